/// Learns with which sentence a receiver's epochs end, so that a fix need not wait for the next epoch to begin.
struct CycleLearner {
    /// A sentence's place in an epoch: the `ordinal`th of its type, as receivers repeat GSA and GGA by constellation.
    struct Place: Hashable {
        let type: SentenceType
        let ordinal: UInt8
    }

    private var candidate: Place?
    private var agreements = 0
    /// Epochs in a row that a pause has ended before the trusted sentence came.
    private var pauses = 0
    /// Epochs in a row that must end alike before the ending is trusted.
    private static let needed = 2

    /// Whether an epoch of this receiver is complete with the sentence at `place`.
    @inline(__always)
    func endsEpoch(_ place: Place) -> Bool { agreements >= Self.needed && place == candidate }

    /// Whether the trusted ending is still to come when `place` came last.
    func isEnding(missingAfter place: Place?) -> Bool { agreements >= Self.needed && place != candidate }

    /// Tells with which useful sentence an epoch really ended; one that ends differently unlearns. A pause within an
    /// epoch, as a busy machine makes one, cuts it short and says nothing about the receiver, unless it comes again.
    mutating func epochEnded(with place: Place, byPause: Bool = false) {
        if place == candidate {
            (agreements, pauses) = (min(agreements + 1, Self.needed), 0)
        } else if byPause, agreements >= Self.needed, pauses < Self.needed {
            pauses += 1
        } else {
            (candidate, agreements, pauses) = (place, 1, 0)
        }
    }
}
