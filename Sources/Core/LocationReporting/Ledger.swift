/// The account of every update that was ever accepted.
package struct Ledger: Sendable, Hashable {
    package var accepted: Int64
    package var delivered: Int64
    package var pending: Int64
    package var evicted: Int64
    package var quarantined: Int64

    package init(
        accepted: Int64 = 0, delivered: Int64 = 0, pending: Int64 = 0, evicted: Int64 = 0, quarantined: Int64 = 0
    ) {
        self.accepted = accepted
        self.delivered = delivered
        self.pending = pending
        self.evicted = evicted
        self.quarantined = quarantined
    }

    /// Whether every accepted update is accounted for.
    package var balances: Bool { accepted == delivered + pending + evicted + quarantined }
}

extension Ledger {
    /// The account of several stores together.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            accepted: one.accepted + other.accepted, delivered: one.delivered + other.delivered,
            pending: one.pending + other.pending, evicted: one.evicted + other.evicted,
            quarantined: one.quarantined + other.quarantined)
    }
}
