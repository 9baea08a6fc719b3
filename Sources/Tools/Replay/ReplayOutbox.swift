import LinuxPlatform
import ReportedText
package import Reporting

/// The outbox of a replay. It is either a temporary outbox, which is removed when everything has been delivered, or a
/// given outbox to continue.
package struct ReplayOutbox: Sendable {
    package let path: String
    /// The directory of a temporary outbox; `nil` for a given outbox.
    private let directory: String?

    /// Creates a temporary outbox.
    package init() {
        let directory = FileSystem.temporaryPath("waypost-replay")
        path = directory + "/outbox.sqlite"
        self.directory = directory
    }

    /// Uses the outbox at `path`, which needn't exist yet.
    package init(continuing path: String) {
        self.path = path
        directory = nil
    }

    /// Returns a notice that the outbox is continued, or that a given outbox is new; `nil` for a new temporary outbox.
    package func notice(of ledger: Ledger, newest: String?) -> String? {
        guard ledger.accepted > 0 else { return directory == nil ? "\(path) is a new outbox" : nil }
        let before = newest.map { "; fixes before its newest update (\($0)) are sent as past locations" } ?? ""
        return "\(path) is continued: it has accepted \(ledger.accepted.counted("update")), \(ledger.pending) pending"
            + before
    }

    /// Removes a temporary outbox. If the outbox contains undelivered updates, keeps it and returns a message for the
    /// user.
    package func removeIfDelivered(_ ledger: Ledger) async -> String? {
        let pending = Int(ledger.pending)
        let quarantined = Int(ledger.quarantined)
        if pending > 0 {
            return
                "\((pending + quarantined).counted("update")) not delivered, but kept; to deliver the pending updates, "
                + "replay another log with --outbox \(path)"
        }
        if quarantined > 0 {
            return
                "\(quarantined.counted("update")) not delivered, but kept in quarantine in \(path); set \"outbox.path\" to this file, "
                + "then list or requeue them with waypost outbox"
        }
        await remove()
        return nil
    }

    /// Removes a temporary outbox with its contents.
    package func remove() async {
        guard let directory else { return }
        await onThread(named: "replay-end") { FileSystem.removeDirectory(at: directory) }
    }
}
