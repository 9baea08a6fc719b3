package import GNSSReceiver
import LinuxPlatform
package import TimeAndChance

/// A recording, read: the entries of its newest run and the receiver's bytes that belong to them.
package struct RecordedRun: Sendable {
    /// Of the run's first file that is left.
    package let header: RunHeader
    package let entries: [RecordingEntry]
    /// What happened on the receiver's line.
    package let receiver: [(at: Duration, event: RecordedReceiver.Event)]
    /// Lines that are not entries: the last one of a file may be cut off by a power cut.
    package let brokenLines: Int

    /// Reads the folder; blocks.
    package init(folder: String) throws(RecordingError) {
        let names: [String]
        do throws(SystemError) { names = try FileSystem.names(inFolder: folder) } catch {
            throw RecordingError("\(folder): \(error.reason)")
        }
        let numbers = names.filter { $0.hasSuffix(".jsonl") }.compactMap(RecordingName.number).sorted()
        guard !numbers.isEmpty else {
            throw RecordingError(
                "\(folder) is a folder without a run recording (\(RecordingName.entries(1))); name a log in it, or "
                    + "record a run with run --record")
        }
        var files: [(header: RunHeader, entries: [RecordingEntry], receiver: [UInt8])] = []
        var brokenLines = 0
        for number in numbers {
            let path = "\(folder)/\(RecordingName.entries(number))"
            let lines = Self.contents(of: path).split(separator: 0x0A)
            guard let first = lines.first else { continue }
            try Self.requireCurrentFormat(first, path)
            guard let header = RecordingLine.value(RunHeader.self, of: first) else {
                brokenLines += 1
                continue
            }
            let entries = lines.dropFirst().compactMap { RecordingLine.value(RecordingEntry.self, of: $0) }
            brokenLines += lines.count - 1 - entries.count
            files.append((header, entries, Self.contents(of: "\(folder)/\(RecordingName.receiver(number))")))
        }
        let run = files.filter { $0.header.run == files.last?.header.run }
        guard let first = run.first else {
            throw RecordingError("\(folder): its run recordings are empty or damaged")
        }
        header = first.header
        entries = run.flatMap(\.entries)
        receiver = run.flatMap { Self.line(of: $0.entries, $0.receiver) }
        self.brokenLines = brokenLines
    }

    /// How long the run was, as far as it is recorded.
    package var length: Duration { entries.map(\.at.duration).max() ?? .zero }

    /// How many bytes of the receiver the entries speak of, and how many of them are there.
    package var receiverBytes: (recorded: Int, found: Int) {
        (
            entries.reduce(0) { if case .read(let bytes) = $1.event { $0 + max(0, bytes.value) } else { $0 } },
            receiver.reduce(0) { if case .read(let bytes) = $1.event { $0 + bytes.count } else { $0 } }
        )
    }

    /// The fixes, by their times, that came too soon after a request.
    package var tooSoon: Set<UTCTime> {
        Set(entries.compactMap { if case .tooSoon(let time) = $0.event { UTCTime(rfc3339: time) } else { nil } })
    }

    /// A header of another version may have other words beside these.
    private static func requireCurrentFormat(_ line: ArraySlice<UInt8>, _ path: String) throws(RecordingError) {
        struct Format: Decodable { let format: Int, version: String? }
        guard let other = RecordingLine.value(Format.self, of: line), other.format != RunHeader.currentFormat else {
            return
        }
        throw RecordingError(
            "\(path) has format \(other.format), this release knows \(RunHeader.currentFormat); use the release that "
                + "made it (\(other.version ?? "unknown"))")
    }

    private static func line(
        of entries: [RecordingEntry], _ bytes: [UInt8]
    ) -> [(at: Duration, event: RecordedReceiver.Event)] {
        var rest = bytes[...]
        return entries.compactMap { entry in
            switch entry.event {
            case .lineOpened: return (entry.at.duration, .opened)
            case .lineClosed: return (entry.at.duration, .closed)
            case .read(let bytes) where bytes.value > 0:
                defer { rest = rest.dropFirst(bytes.value) }
                return (entry.at.duration, .read(Array(rest.prefix(bytes.value))))
            default: return nil
            }
        }
    }

    /// A file that is not there, cannot be read, or is larger than a whole recording holds nothing.
    private static func contents(of path: String) -> [UInt8] {
        (try? BoundedFile.contents(of: path, limit: 64 << 20)) ?? []
    }
}

/// Why a folder holds no recording that can be played again.
package struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, with the remedy.
    package let description: String

    init(_ description: String) { self.description = description }
}
