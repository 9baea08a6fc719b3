/// What became of an epoch when it was complete.
enum EpochCompletion: UInt8 {
    case fix
    /// A flag says that there is no position.
    case void
    /// A sentence says that its position is simulated or typed in by hand.
    case excluded
    /// No sentence stated a position that another vouches for.
    case nothing
    /// Its position is 0, 0.
    case nullIsland
    /// A fix, which waits for the first date.
    case undated
    /// One of the last fixes has the same time.
    case repeated
}
