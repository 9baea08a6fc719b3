package import GNSS

/// Hears what a live receiver's thread does, on that thread: it must return at once.
package protocol ReceiverTap: Sendable {
    /// Whether what is read is kept for replay; gpsd is asked for its receivers' sentences then.
    var keepsOutput: Bool { get }
    /// The thread goes round: it does so at least every `ReceiverPace.longestTurn`, unless a call blocks it.
    func turned()
    /// The thread goes round no more.
    func ended()
    /// The line was opened; what is read from now on is decoded from the beginning.
    func lineOpened()
    /// These bytes were read.
    func received(_ bytes: Span<UInt8>)
    /// A fix was made of what was received so far.
    func fixMade(_ fix: Fix)
    /// The line was closed.
    func lineClosed()
}

/// How often a live receiver's thread goes round.
package enum ReceiverPace {
    /// A quiet line is looked at this often, so that a thread that is stuck can be told from a line that is quiet.
    package static let longestTurn = Duration.seconds(10)
    /// Opening a line may take this long at most: looking up a host and connecting to each of its addresses.
    package static let longestOpening = Duration.seconds(60)
}
