/// A batch on its way, and how long its answer is waited for besides its time limits. Pure.
struct UploadExchange: Sendable {
    /// How long it may still take when the network has changed beneath it.
    private static let graceAfterNetworkChange = Duration.seconds(2)

    let batch: UploadBatch
    let startedAt: Duration
    /// How long a newer position waits for its answer.
    private let patience: Duration
    private var graceEndsAt: Duration?
    private var patienceEndsAt: Duration?
    private var abortedFor: AbortReason?

    init(_ batch: UploadBatch, at now: Duration, patience: UploadPatience) {
        self.batch = batch
        self.patience = patience.duration
        startedAt = now
    }

    /// When it must be aborted; `nil` when it isn't, or has been.
    var abortDueAt: Duration? {
        abortedFor == nil ? [graceEndsAt, patienceEndsAt].compactMap(\.self).min() : nil
    }

    /// Why its failure says nothing of the network path, and it is made again at once: it was aborted, or the network
    /// has changed beneath it.
    var excuse: AbortReason? { abortedFor ?? (graceEndsAt == nil ? nil : .networkChanged) }

    mutating func networkReturned(at now: Duration) {
        graceEndsAt = graceEndsAt ?? now + Self.graceAfterNetworkChange
    }

    mutating func newerPositionWaits(at now: Duration) { patienceEndsAt = patienceEndsAt ?? now + patience }

    /// Notes that it is aborted, because it is time.
    mutating func abort() { abortedFor = abortDueAt == graceEndsAt ? .networkChanged : .newerPosition }
}
