/// An exchange in progress, and the decision whether it must be aborted before the transport's time limits. This type
/// does no I/O.
struct UploadExchange: Sendable {
    /// The time that the exchange may still take after the network has changed.
    private static let graceAfterNetworkChange = Duration.seconds(2)

    let batch: UploadBatch
    let startedAt: Duration
    /// The time that the exchange may stay unanswered while a newer position waits.
    private let newerPositionTimeout: Duration
    private var graceEndsAt: Duration?
    private var timeoutEndsAt: Duration?
    private var abortReason: AbortReason?

    init(_ batch: UploadBatch, at now: Duration, newerPositionTimeout: NewerPositionTimeout) {
        self.batch = batch
        self.newerPositionTimeout = newerPositionTimeout.duration
        startedAt = now
    }

    /// The time when the exchange must be aborted; `nil` if nothing requires that, or if the exchange has already been
    /// aborted.
    var abortDueAt: Duration? {
        abortReason == nil ? [graceEndsAt, timeoutEndsAt].compactMap(\.self).min() : nil
    }

    /// The reason to send the batch again at once if the exchange fails: the exchange was aborted, or the network has
    /// changed since its start. Such a failure says nothing about the network path. `nil` if there is no such reason.
    var resendReason: AbortReason? { abortReason ?? (graceEndsAt == nil ? nil : .networkChanged) }

    mutating func recordNetworkReturn(at now: Duration) {
        graceEndsAt = graceEndsAt ?? now + Self.graceAfterNetworkChange
    }

    mutating func recordNewerPosition(at now: Duration) { timeoutEndsAt = timeoutEndsAt ?? now + newerPositionTimeout }

    /// Records that the exchange is aborted because `abortDueAt` has been reached.
    mutating func abort() { abortReason = abortDueAt == graceEndsAt ? .networkChanged : .newerPosition }
}
