package import GNSS

/// An observer of a live receiver's progress. It is called on the receiver's thread and must return at once.
package protocol ReceiverProgress: Sendable {
    /// Called in each iteration of the thread's loop, at least every `ReceiverPace.maximumTurnTime` unless a call
    /// blocks.
    func turned()
    /// Called with each fix that was decoded from the bytes read so far.
    func fixMade(_ fix: Fix)
    /// Called when the thread has ended.
    func ended()
}

/// An observer of the bytes that a live receiver reads. It is called on the receiver's thread and must return at once.
///
/// With a tap, gpsd is also asked for the sentences of its receivers.
package protocol ReceiverTap: Sendable {
    /// Called when the line has been opened. The bytes that follow are decoded with a new decoder.
    func lineOpened()
    /// Receives the raw bytes, before they are decoded.
    func received(_ bytes: Span<UInt8>)
    /// Called with each fix that was decoded from the bytes read so far.
    func fixMade(_ fix: Fix)
}

/// The maximum times of a live receiver's thread.
package enum ReceiverPace {
    /// The maximum time of one iteration, so that a stuck thread can be distinguished from a quiet line.
    package static let maximumTurnTime = Duration.seconds(10)
    /// The maximum time of opening a line: looking up a host and connecting to each of its addresses.
    package static let maximumOpeningTime = Duration.seconds(60)
}
