/// The faults of one direction of a link; by default none.
package struct LaneFaults: Sendable, Hashable {
    /// The event after the last byte that may pass.
    package enum Ending: Sendable, Hashable {
        /// Both sides get a reset (RST).
        case reset
        /// Nothing more passes, but the connection stays.
        case stall
        /// Both sides get a regular end.
        case close
    }

    /// Added to each piece, drawn for each. Pieces never overtake one another.
    package var delay: ClosedRange<Duration> = .zero ... .zero
    /// The bytes per second; `nil` is unlimited.
    package var bytesPerSecond: Int?
    /// The maximum size of a piece, and the pause before the next. A slow drip is one byte and a pause.
    package var largestPiece = 16_384
    package var pause = Duration.zero
    /// The number of bytes of a connection that pass before the end event; `nil` passes all.
    package var end: (afterBytes: Int, Ending)? {
        get { limit.map { ($0, ending) } }
        set { (limit, ending) = (newValue?.0, newValue?.1 ?? .stall) }
    }

    private(set) var limit: Int?
    private(set) var ending = Ending.stall

    package init() {}
}
