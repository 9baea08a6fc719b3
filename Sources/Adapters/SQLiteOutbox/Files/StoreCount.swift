import LinuxPlatform
import Reporting
import StrictJSON

/// A note next to the store of how far it had come, by which an older copy of it is noticed: its log was removed after
/// a kill, or a backup was put in its place.
///
/// The log starts over once everything in it is in the database. The note is written when the log has a commit again,
/// and at closing. So it costs one small file per 256 pages of the log and nothing per update, and a store without its
/// log is older than the note says. It isn't noticed:
/// - if the process is killed before the first maintenance after the log has started over, within two seconds;
/// - if the note was removed, or put back with the store;
/// - if another program kept the log from starting over, and what is gone came after the note.
final class StoreCount {
    private let files: StoreFiles
    /// The number and salt of the log that the note was written for (sqlite.org/fileformat2.html §4.1).
    private var notedLog: [UInt8] = []

    init(_ files: StoreFiles) { self.files = files }

    /// The counters that the note tells of, of which it has two; `nil` if there is no note that can be read.
    var counters: OutboxCounters? {
        guard let status = try? files.disk.entry(at: files.count), status.isOwnFile,
            let bytes = try? files.disk.read(200, at: 0, of: files.count), let note = try? JSONValue(parsing: bytes),
            let accepted = note["accepted"]?.count, let revision = note["revision"]?.count
        else { return nil }
        return OutboxCounters(lastSequence: accepted, revision: revision)
    }

    /// Writes the note if the log has started over since the last time.
    func noteOncePerLog(_ counters: OutboxCounters) {
        guard let log = try? files.disk.read(8, at: 12, of: files.log), log.count == 8, log != notedLog else { return }
        notedLog = log
        note(counters)
    }

    /// Writes the note. A failure is not reported: updates are stored without it, and it is written again with the
    /// next log.
    func note(_ counters: OutboxCounters) {
        let note: [String: JSONValue] = [
            "accepted": .integer(counters.lastSequence), "revision": .integer(counters.revision),
        ]
        do throws(SystemError) { try files.disk.replaceFile(at: files.count, with: JSONValue.object(note).utf8) } catch
        {}
    }
}
