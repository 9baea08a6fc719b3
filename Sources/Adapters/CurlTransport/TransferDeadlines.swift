import HTTPMessages

/// When a transfer has taken too long: in whole, or without a byte.
///
/// libcurl watches the connecting; it could watch these too (CURLOPT_LOW_SPEED_TIME), but would then keep the
/// connection, which after a time limit is likely dead. Its HTTP/2 ping (curl_easy_upkeep(3)) waits for no answer, and
/// does nothing on a multi handle.
///
/// A connection that was used before may have died without a word: a radio network forgets it after a minute's rest.
/// Until the first byte of an answer it gets half the time, so that a new one is tried soon, with the whole.
struct TransferDeadlines {
    /// A limit that was passed.
    enum Expiry: Hashable {
        case total
        case stall
    }

    private let limits: HTTPLimits
    private let begun: ContinuousClock.Instant
    private var lastProgress: ContinuousClock.Instant?
    /// How long silence may last.
    private(set) var patience: Duration
    private var bytes = 0

    init(limits: HTTPLimits, begun: ContinuousClock.Instant) {
        (self.limits, self.begun, patience) = (limits, begun, limits.stall)
    }

    /// Whether the request has had a connection.
    var isConnected: Bool { lastProgress != nil }

    /// The connection stands, new or used before, and the request is about to be written: from now on silence counts.
    mutating func connected(wasUsed: Bool, at now: ContinuousClock.Instant) {
        patience = wasUsed ? limits.stall / 2 : limits.stall
        lastProgress = now
    }

    /// A part of the answer came.
    mutating func received(at now: ContinuousClock.Instant) {
        patience = limits.stall
        lastProgress = now
    }

    /// `count` bytes of the bodies have gone either way so far.
    mutating func progressed(to count: Int, at now: ContinuousClock.Instant) {
        guard count != bytes else { return }
        bytes = count
        lastProgress = now
    }

    /// When to look again.
    var next: ContinuousClock.Instant {
        let end = begun.advanced(by: limits.total)
        return lastProgress.map { min(end, $0.advanced(by: patience)) } ?? end
    }

    /// The limit that `now` is past.
    func expiry(at now: ContinuousClock.Instant) -> Expiry? {
        if now >= begun.advanced(by: limits.total) { return .total }
        if let lastProgress, now >= lastProgress.advanced(by: patience) { return .stall }
        return nil
    }
}

extension Duration {
    /// Milliseconds, rounded up so that a wait never ends just before its deadline; at least zero.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
