/// The best of several offers for one part of a fix; of equal rank the first stays.
struct Ranked {
    private var best = 0.0
    private(set) var rank: UInt8 = 0

    /// What was offered with the highest rank; `nil` when nothing was.
    @inline(__always)
    var value: Double? { rank == 0 ? nil : best }

    /// Takes `value` if there is one and its rank, from 1 up, is higher than that of the one kept.
    @inline(__always)
    mutating func offer(_ value: Double?, rank: UInt8) {
        if let value, rank > self.rank { (best, self.rank) = (value, rank) }
    }
}
