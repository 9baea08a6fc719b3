import GNSSReceiver

/// Tells that the receiver's thread goes round.
struct ProgressTap: ReceiverTap {
    let progress: StageProgress

    var keepsOutput: Bool { false }
    func turned() { progress.moved(.receiver) }
    func lineOpened() {}
    func received(_ bytes: Span<UInt8>) {}
    func fixMade() {}
    func lineClosed() {}
}
