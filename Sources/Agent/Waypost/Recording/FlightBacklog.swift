import FoundationEssentials

/// What a recording has still to write: bounded, in order, cheap to add to.
struct FlightBacklog: Sendable {
    private(set) var receiver: [UInt8] = []
    private(set) var lines: [UInt8] = []
    /// Reads that are not told yet.
    private var read: (at: Int, bytes: Int)?
    private var lost = 0

    /// Whether there is nothing to write.
    var isEmpty: Bool { lines.isEmpty && read == nil }

    /// Adds what was read at `now`, in milliseconds.
    mutating func add(_ bytes: Span<UInt8>, at now: Int) {
        if let read, now - read.at > FlightSettings.readWindow { closeRead() }
        guard receiver.count + lines.count + bytes.count < FlightSettings.longestBacklog else {
            lost += 1
            return
        }
        receiver.reserveCapacity(receiver.count + bytes.count)
        for index in bytes.indices { receiver.append(bytes[index]) }
        read = (read?.at ?? now, (read?.bytes ?? 0) + bytes.count)
    }

    /// What is read from now on is another entry.
    mutating func closeRead() {
        guard let read else { return }
        self.read = nil
        write(FlightEntry(at: read.at).with(\.read, read.bytes))
    }

    /// Adds an entry.
    mutating func add(_ entry: FlightEntry) {
        closeRead()
        guard receiver.count + lines.count < FlightSettings.longestBacklog else {
            lost += 1
            return
        }
        if lost > 0 {
            write(FlightEntry(at: entry.at).with(\.lost, lost))
            lost = 0
        }
        write(entry)
    }

    /// Gives everything away.
    mutating func take() -> (receiver: [UInt8], lines: [UInt8]) {
        closeRead()
        defer { (receiver, lines) = ([], []) }
        return (receiver, lines)
    }

    private mutating func write(_ entry: FlightEntry) { lines += Self.line(entry) }

    /// One line of JSON.
    static func line(_ entry: FlightEntry) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Whole numbers and words: nothing that could fail to be written as JSON.
        guard let data = try? encoder.encode(entry) else { return [] }
        return Array(data) + [0x0A]
    }
}
