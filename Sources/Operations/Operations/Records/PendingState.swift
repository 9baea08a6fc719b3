import Conditions
package import FleetEngine
import LinuxPlatform

/// A record that the vehicle's final state hasn't been sent yet. The record is a file next to the outbox, so it
/// survives restarts. It contains the vehicle's name, so that it doesn't apply to another vehicle.
package struct PendingState: Sendable {
    private let path: String
    private let record: [UInt8]

    package init(of vehicle: VehicleName, forOutbox outbox: String) {
        path = outbox + Self.suffix
        record = Array("\(vehicle)\n".utf8)
    }

    /// The suffix of the record's file name, which begins with the outbox's name.
    static let suffix = ".pending-state"

    /// Whether the vehicle's final state still has to be sent.
    package var isPending: Bool { get async { await onDiskThread { isRecorded } ?? false } }

    /// Records whether the vehicle's final state still has to be sent.
    package func set(_ isPending: Bool, log: LogWriter) async {
        let failure = await onDiskThread { () -> SystemError? in
            do throws(SystemError) {
                if isPending, !isRecorded { try FileReplacement(at: path).commit(record) }
                // A record of another vehicle is also removed, because it is obsolete.
                if !isPending, try FileStatus(at: path)?.isOwnFile == true { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if let failure = failure ?? nil {
            log.write(Condition(unchanged: .pendingState, because: failure, failure.refusal))
        }
    }

    /// Whether a record for this vehicle exists. Blocks.
    private var isRecorded: Bool {
        (try? FileStatus(at: path))?.isOwnFile == true
            && (try? BoundedFile.contents(of: path, limit: 1024)) == record
    }

    private func onDiskThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        try? await onThreadIfPossible(named: "pending-state", body).get()
    }
}
