/// What the outbox holds, as far as the upload loop knows it without asking: then an update goes out as it was
/// accepted, and is not read back. Pure.
///
/// That nothing is pending is believed for a minute: what a repair has brought back is found then.
enum OutboxContents: Sendable, Hashable {
    case unknown
    /// Nothing is pending.
    case empty(newest: StoredUpdate, readAt: Duration)
    /// Nothing else is pending.
    case only(UploadBatch, readAt: Duration)

    private static let longestBelief = Duration.seconds(60)

    /// What an answer of the outbox tells: more may be pending than a batch holds.
    init(read batch: UploadBatch?, newest: StoredUpdate?, at now: Duration) {
        if batch == nil, let newest { self = .empty(newest: newest, readAt: now) } else { self = .unknown }
    }

    /// Notes what was accepted; `nil`: something was, which only the outbox knows.
    mutating func accept(_ batch: UploadBatch?) {
        // One that is not the newest is not the one that leads.
        if let batch, case .empty(let newest, let readAt) = self, newest.update.timeOfFix < batch.last.timeOfFix {
            self = .only(batch, readAt: readAt)
        } else {
            self = .unknown
        }
    }

    /// Notes that `batch` was delivered, which the outbox will hear next.
    mutating func deliver(_ batch: UploadBatch) {
        if batch.pending.isEmpty { return }
        if case .only(batch, let readAt) = self, let newest = batch.stored {
            self = .empty(newest: newest, readAt: readAt)
        } else {
            self = .unknown
        }
    }

    /// What the outbox would answer at `now`, asked for so many past locations; `nil` where only it can tell.
    func answer(
        maximumPastLocations limit: Int, at now: Duration
    ) -> (batch: UploadBatch?, newest: StoredUpdate?)? {
        switch self {
        case .empty(let newest, let readAt) where now - readAt < Self.longestBelief: (nil, newest)
        case .only(let batch, _) where batch.past.count <= limit: (batch, nil)
        case .empty, .only, .unknown: nil
        }
    }
}
