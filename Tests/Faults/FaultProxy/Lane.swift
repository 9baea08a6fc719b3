/// One direction of a connection: bytes that have come and wait for their time to pass. Pure, and never holds more than
/// `capacity`.
struct Lane {
    static let capacity = 65_536

    private var pieces: [(bytes: ArraySlice<UInt8>, dueAt: Duration)] = []
    private var passed = 0
    private var restsUntil = Duration.zero
    private(set) var held = 0

    /// How many bytes may still be read.
    var room: Int { Self.capacity - held }

    /// Whether everything that has come has passed.
    var isEmpty: Bool { held == 0 }

    /// Takes what was read at `now`, `delay` being drawn for it.
    mutating func take(_ bytes: ArraySlice<UInt8>, at now: Duration, delay: Duration) {
        let earliest = pieces.last?.dueAt ?? .zero
        pieces.append((bytes, max(now + delay, earliest)))
        held += bytes.count
    }

    /// What may pass at `now`; empty when nothing may.
    func ready(at now: Duration, _ faults: LaneFaults) -> ArraySlice<UInt8> {
        guard let first = pieces.first, first.dueAt <= now, restsUntil <= now else { return [] }
        let left = faults.limit.map { max(0, $0 - passed) } ?? .max
        return first.bytes.prefix(min(left, faults.largestPiece, faults.bytesPerSecond.map { max(1, $0 / 20) } ?? .max))
    }

    /// Notes that `count` bytes have passed.
    mutating func pass(_ count: Int, at now: Duration, _ faults: LaneFaults) {
        guard count > 0, var first = pieces.first else { return }
        first.bytes = first.bytes.dropFirst(count)
        if first.bytes.isEmpty { pieces.removeFirst() } else { pieces[0] = first }
        held -= count
        passed += count
        let atRate = faults.bytesPerSecond.map { Duration.seconds(Double(count) / Double($0)) } ?? .zero
        restsUntil = now + max(faults.pause, atRate)
    }

    /// Forgets what waits.
    mutating func drop() { (pieces, held) = ([], 0) }

    /// Whether all has passed that may.
    func isAtEnd(_ faults: LaneFaults) -> Bool { faults.limit.map { passed >= $0 } ?? false }

    /// When something may pass next; `nil` when nothing waits, or nothing may any more.
    func nextPass(_ faults: LaneFaults) -> Duration? {
        guard let first = pieces.first, !isAtEnd(faults) else { return nil }
        return max(first.dueAt, restsUntil)
    }
}
