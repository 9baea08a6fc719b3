package import GNSS

/// An observer of a live receiver's progress. It is called on the receiver's thread and must return at once.
package protocol ReceiverProgress: Sendable {
    /// Called in each iteration of the thread's loop, at least every `ReceiverPace.maximumTurnTime` unless a call
    /// blocks.
    func loopIterated()
    /// Called with each fix as soon as it has been decoded.
    func fixMade(_ fix: Fix)
    /// Called when the thread has ended.
    func threadEnded()
}

/// An observer of the bytes that a live receiver reads. It is called on the receiver's thread and must return at once.
///
/// If there is a tap, gpsd is also asked for its receivers' NMEA sentences.
package protocol ReceiverTap: Sendable {
    /// Called when the line has been opened. The bytes that follow are decoded with a new decoder.
    func lineOpened()
    /// Receives the raw bytes, before they are decoded.
    func bytesReceived(_ bytes: Span<UInt8>)
    /// Called with each fix as soon as it has been decoded.
    func fixMade(_ fix: Fix)
}

/// The maximum times that a live receiver's thread may take.
package enum ReceiverPace {
    /// The maximum time that one iteration of the thread's loop waits. With it, a stuck thread can be distinguished
    /// from one that waits on a quiet line.
    package static let maximumTurnTime = Duration.seconds(10)
    /// The maximum time that opening a line may take, including a host lookup and connecting to each of the host's
    /// addresses.
    package static let maximumOpeningTime = Duration.seconds(60)
}
