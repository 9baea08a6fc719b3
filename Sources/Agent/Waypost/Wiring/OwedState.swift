import FleetEngine
import LinuxPlatform

/// Remembers across a restart that the vehicle's last state has not been sent: a file beside the outbox, with the name
/// of the vehicle. A gateway that has moved to another one owes nothing under that name.
struct OwedState: Sendable {
    private let path: String
    private let record: [UInt8]

    init(of vehicle: VehicleName, besideOutbox outbox: String) {
        path = outbox + Self.suffix
        record = Array("\(vehicle)\n".utf8)
    }

    /// What follows the outbox's name.
    static let suffix = ".owed-state"

    /// Whether a state is owed.
    var isOwed: Bool { get async { await onDisk { isRecorded } ?? false } }

    /// Notes that the state is owed, or that it has been sent.
    func set(_ isOwed: Bool, log: LogWriter) async {
        let failure = await onDisk { () -> SystemError? in
            do throws(SystemError) {
                if isOwed, !isRecorded { try FileReplacement(at: path, mode: 0o600).commit(record) }
                // Another vehicle's of long ago says nothing any more.
                if !isOwed, try FileStatus(at: path)?.isOwnFile == true { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if let failure = failure ?? nil {
            log.write(.warning, "the owed vehicle state cannot be recorded: \(failure)")
        }
    }

    /// Blocks.
    private var isRecorded: Bool {
        (try? FileStatus(at: path))?.isOwnFile == true
            && (try? BoundedFile.contents(of: path, limit: 1024)) == record
    }

    private func onDisk<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        try? await onThreadIfAny(named: "owed-state", body).get()
    }
}
