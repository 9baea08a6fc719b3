import LinuxPlatform
import Reporting
import StrictJSON

/// A note of two of the store's counters, in a file next to the store. It shows whether the store is an older copy,
/// because its log was removed after a kill, or a backup was restored.
///
/// The log starts over once all its content is in the database. The note is written after the next commit to the log,
/// and at closing. It costs one small file per 256 pages of the log and nothing per update. An older store goes
/// unnoticed:
/// - if the process is killed within two seconds after the log has started over, before the first maintenance;
/// - if the note was removed, or restored with the store;
/// - if another program kept the log from starting over, and the lost updates were accepted after the note was written.
final class StoreCount {
    private let files: StoreFiles
    /// The checkpoint number and salt of the log for which the note was written (sqlite.org/fileformat2.html §4.1).
    private var notedLog: [UInt8] = []

    init(_ files: StoreFiles) { self.files = files }

    /// The counters in the note; `nil` if there is no readable note.
    var counters: OutboxCounters? {
        guard let status = try? files.disk.entry(at: files.count), status.isOwnFile,
            let bytes = try? files.disk.read(200, at: 0, of: files.count), let note = try? JSONValue(parsing: bytes),
            let accepted = note["accepted"]?.count, let revision = note["revision"]?.count
        else { return nil }
        return OutboxCounters(lastSequence: accepted, revision: revision)
    }

    /// Writes the note if the log has started over since the last note.
    func writeOncePerLog(_ counters: OutboxCounters) {
        guard let log = try? files.disk.read(8, at: 12, of: files.log), log.count == 8, log != notedLog else { return }
        notedLog = log
        write(counters)
    }

    /// Writes the note. A failure isn't reported: updates can be stored without the note, which is written again for
    /// the next log.
    func write(_ counters: OutboxCounters) {
        let note: [String: JSONValue] = [
            "accepted": .integer(counters.lastSequence), "revision": .integer(counters.revision),
        ]
        do throws(SystemError) { try files.disk.replaceFile(at: files.count, with: JSONValue.object(note).utf8) } catch
        {}
    }
}
