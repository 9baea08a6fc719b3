/// The faults of one direction of a link. By default, there are none.
package struct LaneFaults: Sendable, Hashable {
    /// The event after the last byte that may pass.
    package enum Ending: Sendable, Hashable {
        /// Both sides get a reset (RST).
        case reset
        /// Nothing more passes, but the connection stays.
        case stall
        /// Both sides get a regular end of stream.
        case close
    }

    /// The range of delays, one of which is drawn for each piece. Pieces never overtake one another.
    package var delay: ClosedRange<Duration> = .zero ... .zero
    /// The maximum number of bytes per second; `nil` for no limit.
    package var bytesPerSecond: Int?
    /// The maximum size of a piece in bytes.
    package var maximumPiece = 16_384
    /// The pause after each piece.
    package var pause = Duration.zero
    /// The number of bytes of a connection that pass before the end, and the kind of end; `nil` lets all bytes pass.
    package var end: (afterBytes: Int, Ending)? {
        get { limit.map { ($0, ending) } }
        set { (limit, ending) = (newValue?.0, newValue?.1 ?? .stall) }
    }

    private(set) var limit: Int?
    private(set) var ending = Ending.stall

    package init() {}
}
