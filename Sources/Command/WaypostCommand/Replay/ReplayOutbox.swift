import LinuxPlatform
import ReportedText
import Reporting

/// The outbox of a replay: a temporary one, which is removed once everything is delivered, or a given one to continue.
struct ReplayOutbox: Sendable {
    let path: String
    /// The directory of a temporary outbox.
    private let directory: String?

    /// A temporary outbox.
    init() {
        let directory = FileSystem.temporaryPath("waypost-replay")
        path = directory + "/outbox.sqlite"
        self.directory = directory
    }

    /// The outbox at `path`, to be continued or created.
    init(continuing path: String) {
        self.path = path
        directory = nil
    }

    /// Returns a notice if the outbox isn't new, or if a named one is.
    func notice(of ledger: Ledger, newest: String?) -> String? {
        guard ledger.accepted > 0 else { return directory == nil ? "\(path) is a new outbox" : nil }
        let before = newest.map { "; fixes before its newest update (\($0)) are sent as past locations" } ?? ""
        return "\(path) is continued: it has accepted \(ledger.accepted.counted("update")), \(ledger.pending) pending"
            + before
    }

    /// Removes a temporary outbox, or returns a message if it holds undelivered updates.
    func conclude(_ ledger: Ledger) async -> String? {
        let pending = Int(ledger.pending)
        let quarantined = Int(ledger.quarantined)
        if pending > 0 {
            return
                "\((pending + quarantined).counted("update")) not delivered, and kept; replay with --outbox \(path) to deliver "
                + "the pending ones with another log"
        }
        if quarantined > 0 {
            return
                "\(quarantined.counted("update")) not delivered, and kept in quarantine in \(path); set \"outbox.path\" to it "
                + "for waypost outbox list, which shows the reasons, and waypost outbox requeue"
        }
        await remove()
        return nil
    }

    /// Removes a temporary outbox with its content.
    func remove() async {
        guard let directory else { return }
        await onThread(named: "replay-end") { FileSystem.removeDirectory(at: directory) }
    }
}
