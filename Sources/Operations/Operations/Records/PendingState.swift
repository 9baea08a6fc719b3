package import FleetEngine
import LinuxPlatform

/// A record that the vehicle's last state hasn't been sent. It is a file next to the outbox, so it survives restarts,
/// and contains the vehicle's name, so it doesn't apply to another vehicle.
package struct PendingState: Sendable {
    private let path: String
    private let record: [UInt8]

    package init(of vehicle: VehicleName, forOutbox outbox: String) {
        path = outbox + Self.suffix
        record = Array("\(vehicle)\n".utf8)
    }

    /// The suffix that follows the outbox's name.
    static let suffix = ".pending-state"

    /// Whether a state is waiting to be sent.
    package var isPending: Bool { get async { await onDisk { isRecorded } ?? false } }

    /// Records whether the state is pending.
    package func set(_ isPending: Bool, log: LogWriter) async {
        let failure = await onDisk { () -> SystemError? in
            do throws(SystemError) {
                if isPending, !isRecorded { try FileReplacement(at: path).commit(record) }
                // This also removes another vehicle's record, which no longer means anything.
                if !isPending, try FileStatus(at: path)?.isOwnFile == true { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if let failure = failure ?? nil {
            log.write(.warning, "could not record the pending vehicle state: \(failure)")
        }
    }

    /// Whether there is a record for this vehicle. Blocks.
    private var isRecorded: Bool {
        (try? FileStatus(at: path))?.isOwnFile == true
            && (try? BoundedFile.contents(of: path, limit: 1024)) == record
    }

    private func onDisk<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        try? await onThreadIfAny(named: "pending-state", body).get()
    }
}
