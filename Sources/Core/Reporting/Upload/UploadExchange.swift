import VehicleAuthorization

/// A batch on its way to Fleet Engine, and how long its answer is waited for besides its time limits. Pure.
struct UploadExchange: Sendable {
    /// Why it is aborted before these.
    enum AbortReason: String, Sendable {
        case networkChanged = "the network changed, and no answer came on the old connection"
        case newerPosition = "no answer while a newer position waited; it goes first, on a new connection"
    }

    /// How long it may still take when the network has changed beneath it.
    private static let graceAfterNetworkChange = Duration.seconds(2)

    let batch: UploadBatch
    let token: AuthorizationToken
    let startedAt: Duration
    /// How long a newer position waits for its answer.
    private let patience: Duration
    private var graceEndsAt: Duration?
    private var patienceEndsAt: Duration?
    private var abortedFor: AbortReason?

    init(_ batch: UploadBatch, with token: AuthorizationToken, at now: Duration, patience: UploadPatience) {
        self.batch = batch
        self.token = token
        self.patience = patience.duration
        startedAt = now
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

    mutating func newerPositionWaits(at now: Duration) { patienceEndsAt = patienceEndsAt ?? now + patience }

    /// Notes that it is aborted, for it is time.
    mutating func abort() { abortedFor = abortDueAt == graceEndsAt ? .networkChanged : .newerPosition }
}
