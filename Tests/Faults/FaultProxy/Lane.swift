/// One direction of a connection: at most `capacity` bytes that have arrived and wait to be passed on. Does no I/O.
struct Lane {
    static let capacity = 65_536

    private var pieces: [(bytes: ArraySlice<UInt8>, dueAt: Duration)] = []
    private var passedBytes = 0
    private var pausedUntil = Duration.zero
    private(set) var waitingBytes = 0

    /// The number of bytes that may still be read.
    var room: Int { Self.capacity - waitingBytes }

    /// Whether all bytes have been passed on.
    var isEmpty: Bool { waitingBytes == 0 }

    /// Accepts bytes that were read at `now`, to be passed on after `delay`.
    mutating func accept(_ bytes: ArraySlice<UInt8>, at now: Duration, delay: Duration) {
        let earliest = pieces.last?.dueAt ?? .zero
        pieces.append((bytes, max(now + delay, earliest)))
        waitingBytes += bytes.count
    }

    /// Returns the bytes that may pass at `now`; may be empty.
    func readyBytes(at now: Duration, _ faults: LaneFaults) -> ArraySlice<UInt8> {
        guard let first = pieces.first, first.dueAt <= now, pausedUntil <= now else { return [] }
        let remaining = faults.limit.map { max(0, $0 - passedBytes) } ?? .max
        return first.bytes.prefix(
            min(remaining, faults.maximumPiece, faults.bytesPerSecond.map { max(1, $0 / 20) } ?? .max))
    }

    /// Records that `count` bytes have been passed on.
    mutating func recordPassed(_ count: Int, at now: Duration, _ faults: LaneFaults) {
        guard count > 0, var first = pieces.first else { return }
        first.bytes = first.bytes.dropFirst(count)
        if first.bytes.isEmpty { pieces.removeFirst() } else { pieces[0] = first }
        waitingBytes -= count
        passedBytes += count
        let atRate = faults.bytesPerSecond.map { Duration.seconds(Double(count) / Double($0)) } ?? .zero
        pausedUntil = now + max(faults.pause, atRate)
    }

    /// Drops the waiting bytes.
    mutating func drop() { (pieces, waitingBytes) = ([], 0) }

    /// Whether everything that may pass has been passed on.
    func isAtEnd(_ faults: LaneFaults) -> Bool { faults.limit.map { passedBytes >= $0 } ?? false }

    /// Returns the time when more bytes may pass; `nil` if no bytes wait, or if no more may pass.
    func nextPass(_ faults: LaneFaults) -> Duration? {
        guard let first = pieces.first, !isAtEnd(faults) else { return nil }
        return max(first.dueAt, pausedUntil)
    }
}
