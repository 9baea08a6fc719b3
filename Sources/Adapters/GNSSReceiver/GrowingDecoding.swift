import GNSS

/// What is made of the bytes of a growing file: fixes, each as soon as its epoch is complete.
///
/// Knows no file and no clock. A pause completes an epoch, as on a live line, but only where the file ends with a line:
/// a program that writes by the block stops in the midst of a sentence.
struct GrowingDecoding: Sendable {
    private let newDecoder: NMEADecoder
    private(set) var decoder: NMEADecoder
    /// The line's time: so long has been waited for bytes. It stands still while what is there is read and used.
    private var time = Duration.zero
    private var endsLine = true
    private static let shortestPatience = Duration.milliseconds(10)

    init(decoder: NMEADecoder) { (newDecoder, self.decoder) = (decoder, decoder) }

    mutating func take(_ bytes: Span<UInt8>, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        decoder.decode(bytes, receivedAt: time, emit)
        endsLine = bytes[bytes.count - 1] == UInt8(ascii: "\n") || bytes[bytes.count - 1] == UInt8(ascii: "\r")
    }

    /// Nothing has come for `duration` more.
    mutating func waited(_ duration: Duration, _ emit: (Fix) -> Void) {
        guard endsLine else { return }
        time += duration
        decoder.lineIsIdle(at: time, emit)
    }

    /// How long to wait for bytes at most before that means something.
    var patience: Duration? {
        guard endsLine, let deadline = decoder.idleDeadline else { return nil }
        return max(deadline - time, Self.shortestPatience)
    }

    /// The file has been begun again by its writer: what follows is another recording.
    mutating func startAgain(_ emit: (Fix) -> Void) {
        decoder.finish(emit)
        (decoder, endsLine) = (newDecoder, true)
    }

    /// What the receiver has warned of since it was last asked.
    mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }

    mutating func finish(_ emit: (Fix) -> Void) { decoder.finish(emit) }
}
