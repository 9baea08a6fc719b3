import Glibc
import GNSS
package import GNSSReceiver
import LinuxPlatform
import StrictJSON
import TimeAndChance

/// A flight recording, read: the entries of its newest run and the receiver's bytes that belong to them.
package struct FlightLog: Sendable {
    /// The first line of the run's first file that is left.
    package let header: FlightEntry
    package let entries: [FlightEntry]
    /// What happened on the receiver's line.
    package let receiver: [(at: Duration, event: RecordedReceiver.Event)]
    /// Lines that are none: the last one of a file may be cut off by a power cut.
    package let brokenLines: Int

    /// Reads the folder; blocks.
    ///
    /// - Throws: `.inputData` when it holds no flight recording, or one of a newer format.
    package init(folder: String) throws(AgentError) {
        let names: [String]
        do throws(SystemError) { names = try FileSystem.names(inFolder: folder) } catch {
            throw AgentError(.inputData, "\(folder): \(error.reason)")
        }
        let numbers = Set(names.filter { $0.hasPrefix("flight-") }.compactMap(FlightSettings.number)).sorted()
        guard !numbers.isEmpty else {
            throw AgentError(
                .inputData,
                "\(folder) is a folder without a flight recording (flight-000001.jsonl); name a log in it, or record "
                    + "one with run --record")
        }
        var segments: [(header: FlightEntry, entries: [FlightEntry], receiver: [UInt8])] = []
        var broken = 0
        for number in numbers {
            let lines = Self.contents(of: "\(folder)/\(FlightSettings.flightFile(number))")
            var entries = lines.split(separator: 0x0A).compactMap { line -> FlightEntry? in
                if let entry = try? JSONValue(parsing: Array(line)).decoded(as: FlightEntry.self), entry.isPlausible {
                    return entry
                }
                broken += 1
                return nil
            }
            guard let header = entries.first, let format = header.flight, header.run != nil else { continue }
            guard format <= FlightEntry.format else {
                throw AgentError(
                    .inputData,
                    "\(folder)/\(FlightSettings.flightFile(number)) has format \(format), this release knows "
                        + "\(FlightEntry.format); use the release that made it (\(header.version ?? "unknown"))")
            }
            entries.removeFirst()
            segments.append((header, entries, Self.contents(of: "\(folder)/\(FlightSettings.receiverFile(number))")))
        }
        let run = segments.last?.header.run
        let own = segments.filter { $0.header.run == run }
        guard let first = own.first else {
            throw AgentError(.inputData, "\(folder): its flight recordings are empty or damaged")
        }
        header = first.header
        entries = own.flatMap(\.entries)
        receiver = own.flatMap { Self.line(of: $0.entries, $0.receiver) }
        brokenLines = broken
    }

    /// How long the run was, as far as it is recorded.
    package var length: Duration { .milliseconds(entries.map(\.at).max() ?? 0) }

    private static func line(
        of entries: [FlightEntry], _ bytes: [UInt8]
    ) -> [(at: Duration, event: RecordedReceiver.Event)] {
        var rest = bytes[...]
        return entries.compactMap { entry in
            let at = Duration.milliseconds(entry.at)
            if entry.line == "opened" { return (at, .opened) }
            if entry.line == "closed" { return (at, .closed) }
            guard let count = entry.read, count > 0 else { return nil }
            defer { rest = rest.dropFirst(count) }
            return (at, .read(Array(rest.prefix(count))))
        }
    }

    /// A file that is not there, cannot be read, or is larger than a whole recording holds nothing.
    private static func contents(of path: String) -> [UInt8] {
        (try? BoundedFile.contents(of: path, limit: 64 << 20)) ?? []
    }
}

/// One line of a flight recording: when, and one thing that happened, named by the key that is there.
///
/// No token, header, body or coordinate is in it. The keys are the format, version 1; `docs/operations.md` has the
/// table.
package struct FlightEntry: Sendable, Hashable, Codable {
    /// Milliseconds since the start of the run, monotonic.
    package var at: Int

    /// The first line of a file: the version of the format.
    package var flight: Int?
    /// The run's start by the host's clock, which names the run; in every file of it.
    package var run: String?
    /// Whether something keeps that clock right.
    package var synchronized: Bool?
    package var version: String?

    /// The receiver's line: `opened` or `closed`.
    package var line: String?
    /// So many bytes were read, the next ones in the receiver's file of the same number.
    package var read: Int?

    /// A request went out: `update`, or `state` for one without a position.
    package var request: String?
    /// What became of a request: `delivered`, `tokenRefused`, `retry`, `throttled`, `unreachable`,
    /// `intercepted`, `hold`, `rejected`.
    package var answer: String?
    /// Of a request or its answer: which one, from 1.
    package var number: Int?
    package var status: Int?
    /// Why no answer came, by the words of `HTTPTransportError.Code`.
    package var error: String?
    /// Milliseconds.
    package var took: Int?
    package var sent: Int?
    package var received: Int?
    /// Milliseconds for which the other side asked to be left alone.
    package var after: Int?

    /// What became of asking the issuer for a token: `fetched`, or a word of `AuthorizationError.Code`.
    package var token: String?
    /// Milliseconds of life of the token.
    package var lifetime: Int?

    /// `returned`: the kernel announced a new way out.
    package var network: String?
    /// Chance drawn for a wait, of `upload` or `token`.
    package var draw: String?
    package var value: Double?

    /// An update was accepted under this number.
    package var accepted: Int64?
    /// An update could not be stored, by the word of `OutboxError.Code`.
    package var notStored: String?
    /// UTC of the fix of that update.
    package var timeOfFix: String?
    /// A request is made of so many updates that wait; 0 when the newest one is repeated.
    package var uploading: Int?
    /// Nothing is sent for so many milliseconds.
    package var waiting: Int?
    /// Why: the answer's word, `token` or `outbox`.
    package var reason: String?
    /// This update was set aside.
    package var quarantined: Int64?
    /// The account has changed in what was evicted or set aside: all that was evicted.
    package var evicted: Int64?
    /// A stage that stood still, and what was tried.
    package var repair: String?

    /// So many entries could not be kept: the disk was too slow.
    package var lost: Int?

    package init(at: Int) { self.at = at }

    /// The version of the format that is written and read.
    static let format = 1

    /// Whether its numbers can be those of a run: none is beyond a hundred years of milliseconds, so that they can be
    /// added and subtracted.
    var isPlausible: Bool {
        let numbers = [at, read, number, status, took, sent, received, after, lifetime, uploading, waiting, lost]
        let updates = [accepted, quarantined, evicted]
        return numbers.allSatisfy { ($0?.magnitude ?? 0) < 1 << 42 }
            && updates.allSatisfy { ($0?.magnitude ?? 0) < 1 << 42 }
    }
}

extension FlightEntry {
    /// With one more word.
    func with<Value>(_ key: WritableKeyPath<FlightEntry, Value?>, _ value: Value?) -> FlightEntry {
        var entry = self
        entry[keyPath: key] = value
        return entry
    }
}

/// The files of a recording in the making: pairs of bounded size, the newest few of them; used on one thread.
///
/// They hold positions and nothing secret; only their owner may read them.
struct FlightFiles {
    private let settings: FlightSettings
    private let header: FlightEntry
    private var number: Int
    private var written: Int

    /// Begins behind what is in the folder; `header` stands first in every file.
    init(_ settings: FlightSettings, header: FlightEntry) throws(SystemError) {
        (self.settings, self.header, written) = (settings, header, 0)
        try FolderTrust.require(settings.folder, .none, missing: .made)  // old files are known by their names
        number = try FileSystem.names(inFolder: settings.folder).compactMap(FlightSettings.number).max() ?? 0
        try beginNext()
    }

    /// The first line of every file of a run that begins now.
    static func header(at now: UTCTime, isSynchronized: Bool) -> FlightEntry {
        FlightEntry(at: 0).with(\.flight, FlightEntry.format).with(\.run, now.description)
            .with(\.synchronized, isSynchronized).with(\.version, Release.version)
    }

    /// Writes both kinds and puts them on the disk: the receiver's bytes first, for the lines count them.
    mutating func write(receiver: [UInt8], lines: [UInt8]) throws(SystemError) {
        if written > 0, written + receiver.count + lines.count > settings.segmentBytes { try beginNext() }
        let first = written == 0 ? FlightBacklog.line(header) : []
        if !receiver.isEmpty { try append(receiver, to: FlightSettings.receiverFile(number)) }
        try append(first + lines, to: FlightSettings.flightFile(number))
        written += receiver.count + first.count + lines.count
    }

    private func append(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let path = "\(settings.folder)/\(name)"
        let file = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        do throws(SystemError) { try file.writeAll(bytes.span) } catch {
            throw SystemError(call: "write \(path)", number: error.number)
        }
        try FileSystem.synchronizeFile(at: path)
    }

    private mutating func beginNext() throws(SystemError) {
        (number, written) = (number + 1, 0)
        for name in try FileSystem.names(inFolder: settings.folder) {
            guard let old = FlightSettings.number(of: name), old <= number - settings.segments else { continue }
            try FileSystem.removeFile(at: "\(settings.folder)/\(name)")
        }
    }
}

/// Where and how much of a run is kept, so that a day on the road can be played again at the desk.
package struct FlightSettings: Sendable {
    /// Made when it is missing, for its owner only.
    package var folder: String
    /// The two files of a number are closed, and the next ones begun, before they hold more than this together.
    package var segmentBytes: Int
    /// Only the newest so many numbers are kept.
    package var segments: Int

    package init(folder: String, segmentBytes: Int = 4 << 20, segments: Int = 8) {
        (self.folder, self.segmentBytes, self.segments) = (folder, segmentBytes, max(1, segments))
    }

    /// What waits for the disk at most, in bytes; what comes while it is full is counted as lost.
    static let longestBacklog = 1 << 20
    /// A power cut costs the last so much of a recording.
    static let flushInterval = Duration.seconds(5)
    /// Reads this close to each other are one entry, until a fix was made of them.
    static let readWindow = 250

    static func receiverFile(_ number: Int) -> String { "receiver-\(padded(number)).nmea" }
    static func flightFile(_ number: Int) -> String { "flight-\(padded(number)).jsonl" }

    /// Far more than any run makes, and far from where numbers end.
    private static let numbers = 1...999_999_999

    /// The number of a file of either kind; `nil` for any other name.
    static func number(of name: String) -> Int? {
        for (front, end) in [("receiver-", ".nmea"), ("flight-", ".jsonl")]
        where name.hasPrefix(front) && name.hasSuffix(end) {
            return Int(name.dropFirst(front.count).dropLast(end.count)).flatMap { numbers.contains($0) ? $0 : nil }
        }
        return nil
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}
