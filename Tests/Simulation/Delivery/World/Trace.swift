/// What happened, as one number that two runs of one scenario have in common, and in words for whoever asks.
struct Trace {
    /// Kinds of events, each with two figures of its own.
    enum Mark: Int, CaseIterable {
        case start, stop, cut, kill, end
        case fix, refusedFix, accepted, notStored, uploading, delivered, failed, noToken, outboxFailed, waiting
        case quarantined, idle, stateSent, receiver
        case request, answer, token, networkBack, disk
        case privateTime, reload
    }

    /// FNV-1a over all marks, times and figures.
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var count = 0
    /// How often each mark was made.
    private(set) var counts = [Int](repeating: 0, count: Mark.allCases.count)
    /// Takes each event in words; `nil` when nobody reads.
    let tell: ((String) -> Void)?

    init(tell: ((String) -> Void)? = nil) { self.tell = tell }

    mutating func note(
        _ mark: Mark, at time: Duration, _ one: Int64 = 0, _ other: Int64 = 0, _ words: @autoclosure () -> String
    ) {
        count += 1
        counts[mark.rawValue] += 1
        mix(UInt64(mark.rawValue))
        let (seconds, attoseconds) = time.components
        mix(UInt64(bitPattern: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
        mix(UInt64(bitPattern: one))
        mix(UInt64(bitPattern: other))
        tell?("\(time.clockText)  \(words())")
    }

    private mutating func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x100_0000_01B3
        hash ^= hash >> 29
    }
}

extension Duration {
    /// As `27:03:05.250`: hours, minutes, seconds of the run.
    var clockText: String {
        let (seconds, attoseconds) = components
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let fraction = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60)).\(fraction)"
    }

    var inSeconds: Double { self / .seconds(1) }
}
