/// The events of a run: as a hash, which is equal for all runs of a scenario, and as text if requested.
struct Trace {
    /// The kind of an event. Each event also has two numbers, whose meaning depends on the kind.
    enum Mark: Int, CaseIterable {
        case start, stop, cut, kill, end
        case fix, rejectedFix, accepted, notStored, uploading, delivered, failed, noToken, outboxFailed, waiting
        case quarantined, idle, stateSent, receiver
        case request, answer, token, networkBack, disk
        case privateTime, reload
    }

    /// The FNV-1a hash of all marks, times and figures.
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var count = 0
    /// The number of events by mark.
    private(set) var counts = [Int](repeating: 0, count: Mark.allCases.count)
    /// A function that receives each event as text; `nil` if the text isn't needed.
    let output: ((String) -> Void)?

    init(output: ((String) -> Void)? = nil) { self.output = output }

    mutating func note(
        _ mark: Mark, at time: Duration, _ one: Int64 = 0, _ other: Int64 = 0, _ text: @autoclosure () -> String
    ) {
        count += 1
        counts[mark.rawValue] += 1
        mix(UInt64(mark.rawValue))
        let (seconds, attoseconds) = time.components
        mix(UInt64(bitPattern: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
        mix(UInt64(bitPattern: one))
        mix(UInt64(bitPattern: other))
        output?("\(time.clockText)  \(text())")
    }

    private mutating func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x100_0000_01B3
        hash ^= hash >> 29
    }
}

extension Duration {
    /// The time in hours, minutes and seconds, such as `27:03:05.250`.
    var clockText: String {
        let (seconds, attoseconds) = components
        func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let fraction = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        return "\(twoDigits(seconds / 3600)):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60)).\(fraction)"
    }

    var inSeconds: Double { self / .seconds(1) }
}
