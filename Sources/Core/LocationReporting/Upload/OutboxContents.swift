/// What the outbox holds, as far as the upload loop knows it without asking: then an update goes out as it was
/// accepted, and is not read back. Pure.
enum OutboxContents: Sendable, Hashable {
    case unknown
    /// Nothing is pending.
    case empty(newest: StoredUpdate)
    /// Nothing else is pending.
    case only(UploadBatch)

    /// What an answer of the outbox tells: more may be pending than a batch holds.
    init(read batch: UploadBatch?, newest: StoredUpdate?) {
        if batch == nil, let newest { self = .empty(newest: newest) } else { self = .unknown }
    }

    /// Notes what was accepted; `nil`: something, or what was quarantined is pending again.
    mutating func accept(_ batch: UploadBatch?) {
        // One that is not the newest is not the one that leads.
        if let batch, case .empty(let newest) = self, newest.update.timeOfFix < batch.last.timeOfFix {
            self = .only(batch)
        } else {
            self = .unknown
        }
    }

    /// Notes that `batch` was delivered, which the outbox will hear next.
    mutating func deliver(_ batch: UploadBatch) {
        if batch.pending.isEmpty { return }
        if case .only(batch) = self, let newest = batch.stored {
            self = .empty(newest: newest)
        } else {
            self = .unknown
        }
    }

    /// What the outbox would answer, asked for so many past locations; `nil` where only it can tell.
    func answer(maximumPastLocations limit: Int) -> (batch: UploadBatch?, newest: StoredUpdate?)? {
        switch self {
        case .empty(let newest): (nil, newest)
        case .only(let batch) where batch.past.count <= limit: (batch, nil)
        case .only, .unknown: nil
        }
    }
}
