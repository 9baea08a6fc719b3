import LinuxPlatform
import LocationReporting

/// Remembers across a restart that Fleet Engine has not been told the vehicle's last state: a file beside the outbox.
///
/// A cancelled caller does not wait for a disk that hangs.
struct OwedState: Sendable {
    private let path: String
    private let clock: MonotonicClock

    init(besideOutbox outbox: String, clock: MonotonicClock) { (path, self.clock) = (outbox + Self.suffix, clock) }

    /// What follows the outbox's name.
    static let suffix = ".owed-state"

    /// Whether a state is owed.
    var isOwed: Bool {
        get async { await onDisk { [path] in (try? FileStatus(at: path))??.isOwnFile == true } ?? false }
    }

    /// Notes that the state is owed, or that it has been told.
    func set(_ isOwed: Bool, log: LogWriter) async {
        let failure = await onDisk { [path] () -> SystemError? in
            do throws(SystemError) {
                let exists = try FileStatus(at: path)?.isOwnFile == true
                if isOwed, !exists { try FileSystem.createFile(at: path) }
                if !isOwed, exists { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if case .some(.some(let failure)) = failure {
            log.write(.warning, "the state owed to Fleet Engine cannot be noted: \(failure)")
        }
    }

    private func onDisk<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await AbandonableCall<Value>(clock: clock).run { await onThread(named: "owed-state", body) }
    }
}
