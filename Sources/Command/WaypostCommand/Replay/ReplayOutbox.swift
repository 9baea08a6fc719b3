import LinuxPlatform
import ReportedText
import Reporting

/// Where a replay keeps its updates: in an outbox of its own, which is gone when everything was delivered, or in one
/// that it was told to continue.
struct ReplayOutbox: Sendable {
    let path: String
    /// The folder of an outbox of its own.
    private let folder: String?

    /// One of its own.
    init() {
        let folder = FileSystem.temporaryPath("waypost-replay")
        path = folder + "/outbox.sqlite"
        self.folder = folder
    }

    /// The outbox at `path`, to be continued, or to be begun there.
    init(continuing path: String) {
        self.path = path
        folder = nil
    }

    /// What it means for a replay that the outbox is not new, or that there was none where one was named.
    func notice(of ledger: Ledger, newest: String?) -> String? {
        guard ledger.accepted > 0 else { return folder == nil ? "\(path) is a new outbox: there was none" : nil }
        let before = newest.map { "; what happened before its newest update (\($0)) is sent as past locations" } ?? ""
        return "\(path) is continued: its ledger counts \(ledger.accepted.counted("update")) of before, "
            + "\(ledger.pending) of them pending\(before)"
    }

    /// Removes an outbox of its own, unless it holds what was not delivered: says where that is and what to do.
    func conclude(_ ledger: Ledger) async -> String? {
        let pending = Int(ledger.pending)
        let quarantined = Int(ledger.quarantined)
        if pending > 0 {
            return
                "\((pending + quarantined).counted("update")) not delivered, and kept: a replay with --outbox \(path) plays its "
                + "log and delivers what is pending there, too"
        }
        if quarantined > 0 {
            return
                "\(quarantined.counted("update")) not delivered, and kept in quarantine in \(path); waypost outbox list says "
                + "why, where \"outbox.path\" names it, and waypost outbox requeue lets them be delivered"
        }
        await remove()
        return nil
    }

    /// Removes an outbox of its own with all that is in it.
    func remove() async {
        guard let folder else { return }
        await onThread(named: "replay-end") { FileSystem.removeFolder(at: folder) }
    }
}
