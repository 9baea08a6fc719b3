import VehicleAuthorization

/// A batch on its way to Fleet Engine, and how long its answer is waited for besides its time limits. Pure.
struct UploadExchange: Sendable {
    /// Why it is aborted before these.
    enum AbortReason: String, Sendable {
        case networkChanged = "the network changed, and no answer came on the old connection"
        case newerPosition = "no answer to older positions while a newer one waits, which goes first"
    }

    /// How long it may still take when the network has changed beneath it.
    private static let graceAfterNetworkChange = Duration.seconds(2)
    /// How long a newer position waits for the answer to older ones.
    private static let patienceWithBacklog = Duration.seconds(3)

    let batch: UploadBatch
    let token: AuthorizationToken
    let startedAt: Duration
    private var graceEndsAt: Duration?
    private var patienceEndsAt: Duration?
    private var abortedFor: AbortReason?

    init(_ batch: UploadBatch, with token: AuthorizationToken, at now: Duration) {
        (self.batch, self.token, startedAt) = (batch, token, now)
    }

    /// When it is to be aborted; `nil` when it is not, or has been.
    var abortDueAt: Duration? {
        abortedFor == nil ? [graceEndsAt, patienceEndsAt].compactMap(\.self).min() : nil
    }

    /// Why its failure says nothing of the network path, and it is made again at once: it was aborted, or the network
    /// has changed beneath it.
    var excuse: AbortReason? { abortedFor ?? (graceEndsAt == nil ? nil : .networkChanged) }

    mutating func networkReturned(at now: Duration) {
        graceEndsAt = graceEndsAt ?? now + Self.graceAfterNetworkChange
    }

    mutating func newerPositionWaits(at now: Duration) {
        // A light batch has hardly more to carry than the newer position itself: on the slowest link there must be
        // something that is waited for.
        if batch.past.count > BatchSize.light, patienceEndsAt == nil {
            patienceEndsAt = now + Self.patienceWithBacklog
        }
    }

    /// Notes that it is aborted, for it is time.
    mutating func abort() { abortedFor = abortDueAt == graceEndsAt ? .networkChanged : .newerPosition }
}
