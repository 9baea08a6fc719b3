import Reporting

/// Methods that return the updates for the next upload, the newest update and the ledger.
extension OutboxEngine {
    func newest() throws(OutboxError) -> StoredUpdate? { try perform { _ throws(OutboxError) in current.newest } }

    func ledger() throws(OutboxError) -> Ledger { try summary().ledger }

    /// Returns the updates for the next upload.
    func next(_ request: BatchRequest) throws(OutboxError) -> NextUpload {
        let batch = try nextBatch(
            maximumPastLocations: request.maximumPastLocations, withBacklog: request.withBacklog)
        return NextUpload(batch, newest: try newest())
    }

    /// Returns the updates for the next upload after an append. Doesn't read the store if only the updates of this
    /// append are pending.
    func next(
        _ request: BatchRequest, after stored: StoredUpdate, with shapePoints: [LocationUpdate]
    ) throws(OutboxError) -> NextUpload {
        let isAlone = current.pending - Int64(unwritten.count) == Int64(shapePoints.count) + 1
        guard isAlone, current.newest == stored, shapePoints.count <= request.maximumPastLocations else {
            return try next(request)
        }
        let first = stored.sequence - Int64(shapePoints.count)
        let past = zip(first..., shapePoints).map { StoredUpdate(sequence: $0, update: $1) }
        return NextUpload(UploadBatch(last: stored, lastIsPending: true, past: past), newest: stored)
    }

    /// The result of `next` if the counters show that nothing is pending; otherwise `nil`.
    var nextIfNothingIsPending: NextUpload? {
        current.pending == Int64(unwritten.count) ? NextUpload(nil, newest: current.newest) : nil
    }
}
