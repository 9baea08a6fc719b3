/// What a link does to the bytes of one direction; by default nothing.
package struct LaneFaults: Sendable, Hashable {
    /// What happens when the last byte has passed that may.
    package enum Ending: Sendable, Hashable {
        /// Both sides get a reset (RST).
        case reset
        /// Nothing passes any more; the connection stays.
        case stall
        /// Both sides get an orderly end.
        case close
    }

    /// Added to each piece, drawn anew for each; pieces never overtake one another.
    package var delay: ClosedRange<Duration> = .zero ... .zero
    /// `nil` is as fast as the machine.
    package var bytesPerSecond: Int?
    /// The largest piece that passes at once, and the pause before the next: a slow drip is one byte and a pause.
    package var largestPiece = 16_384
    package var pause = Duration.zero
    /// How many bytes of a connection pass, and what happens then; `nil` passes all.
    package var end: (afterBytes: Int, Ending)? {
        get { limit.map { ($0, ending) } }
        set { (limit, ending) = (newValue?.0, newValue?.1 ?? .stall) }
    }

    private(set) var limit: Int?
    private(set) var ending = Ending.stall

    package init() {}
}
