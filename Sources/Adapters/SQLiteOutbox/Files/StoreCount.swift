import LinuxPlatform
import Reporting
import StrictJSON

/// A note of two of the store's counters, in a file next to the store. It shows whether the store is an older copy of
/// itself, because the log was removed after the process was killed, or because a backup was restored.
///
/// The write-ahead log starts over when all its content is in the database. The note is written after the next commit
/// to the log, and when the store is closed. So it costs one small file per 256 pages of the log, and nothing per
/// update. An older store isn't noticed in these cases:
/// - The process was killed within two seconds after the log had started over, before the first maintenance.
/// - The note was removed, or was restored together with the store.
/// - Another program kept the log from starting over, and the lost updates were accepted after the note was written.
final class StoreCount {
    private let files: StoreFiles
    /// The log's checkpoint number and salt at the time of the last note (sqlite.org/fileformat2.html §4.1). They
    /// change when the log starts over.
    private var notedLog: [UInt8] = []
    /// The store's counters when the log's header was last read. They change with every commit.
    private var inspected: OutboxCounters?

    init(_ files: StoreFiles) { self.files = files }

    /// The counters in the note; `nil` if the note is missing or can't be read.
    var counters: OutboxCounters? {
        guard let status = try? files.disk.entry(at: files.counterNote), status.isOwnFile,
            let bytes = try? files.disk.read(200, at: 0, of: files.counterNote),
            let note = try? JSONValue(parsing: bytes),
            let accepted = note["accepted"]?.count, let revision = note["revision"]?.count
        else { return nil }
        return OutboxCounters(lastSequence: accepted, revision: revision)
    }

    /// Writes the note if the log has started over since the note was last written.
    func writeOncePerLog(_ counters: OutboxCounters) {
        guard counters != inspected,
            let log = try? files.disk.read(8, at: 12, of: files.log), log.count == 8
        else { return }
        inspected = counters
        guard log != notedLog else { return }
        notedLog = log
        write(counters)
    }

    /// Writes the note. A failure isn't reported, because updates can be stored without the note. The next attempt is
    /// made when the log has started over again.
    func write(_ counters: OutboxCounters) {
        let note: [String: JSONValue] = [
            "accepted": .integer(counters.lastSequence), "revision": .integer(counters.revision),
        ]
        do throws(SystemError) {
            try files.disk.replaceFile(at: files.counterNote, with: JSONValue.object(note).utf8)
        } catch {}
    }
}
