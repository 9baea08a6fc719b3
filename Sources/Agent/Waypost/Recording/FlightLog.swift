import FoundationEssentials
package import GNSSReceiver
import LinuxPlatform

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
                if let entry = try? JSONDecoder().decode(FlightEntry.self, from: Data(line)), entry.isPlausible {
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
