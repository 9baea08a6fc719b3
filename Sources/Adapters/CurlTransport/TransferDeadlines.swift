import HTTPMessages

/// When a transfer has taken too long: in whole, or without a byte.
///
/// libcurl watches the connecting; it could watch these too, but would then keep the connection, which after a time
/// limit is likely dead.
struct TransferDeadlines {
    /// A limit that was passed.
    enum Expiry: Hashable {
        case total
        case stall
    }

    private let limits: HTTPLimits
    private let begun: ContinuousClock.Instant
    private var lastProgress: ContinuousClock.Instant?
    private var bytes = 0

    init(limits: HTTPLimits, begun: ContinuousClock.Instant) { (self.limits, self.begun) = (limits, begun) }

    /// The connection stands and the request is about to be written, or a part of the answer came: from now on
    /// silence counts.
    mutating func active(at now: ContinuousClock.Instant) { lastProgress = now }

    /// `count` bytes of the bodies have gone either way so far.
    mutating func progressed(to count: Int, at now: ContinuousClock.Instant) {
        guard count != bytes else { return }
        bytes = count
        lastProgress = now
    }

    /// When to look again.
    var next: ContinuousClock.Instant {
        let end = begun.advanced(by: limits.total)
        return lastProgress.map { min(end, $0.advanced(by: limits.stall)) } ?? end
    }

    /// The limit that `now` is past.
    func expiry(at now: ContinuousClock.Instant) -> Expiry? {
        if now >= begun.advanced(by: limits.total) { return .total }
        if let lastProgress, now >= lastProgress.advanced(by: limits.stall) { return .stall }
        return nil
    }
}
