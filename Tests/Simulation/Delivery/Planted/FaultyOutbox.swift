import ReportedText
import Reporting

/// An outbox that violates its contract.
actor FaultyOutbox: Outbox {
    private let base: any Outbox
    private let bug: PlantedBug
    private let world: World
    /// The number of updates that are lost at the start of the process.
    private var forgotten: Int64?
    private var calls: Int64 = 0
    private var countedTwice: Int64 = 0

    init(_ base: any Outbox, bug: PlantedBug, world: World) {
        (self.base, self.bug, self.world) = (base, bug, world)
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendResult {
        let kept = bug == .dropsShapePoints ? [] : shapePoints
        while true {
            do throws(OutboxError) {
                var appended = try await base.append(
                    update, with: kept, overrulingEarlier: overrulingEarlier, next: next)
                appended.next = appended.next.map(changed)
                // The answer is as if nothing had been appended.
                if bug == .ignoresAppends { appended.next?.batch = nil }
                return appended
            } catch {
                guard bug == .waitsForTheLock, error.code == .busy else { throw error }
                await world.clock.wait(for: .seconds(5))
            }
        }
    }

    func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        changed(try await base.nextUpload(for: request))
    }

    private func changed(_ next: NextUpload) -> NextUpload {
        NextUpload(next.batch.flatMap(changed), newest: next.newest)
    }

    private func changed(_ batch: UploadBatch) -> UploadBatch? {
        calls += 1
        switch bug {
        case .sendsOldestAsLast:
            guard let oldest = batch.past.first, batch.lastIsPending else { return batch }
            return UploadBatch(last: oldest, lastIsPending: true, past: Array(batch.pending.dropFirst()))
        case .movesPositions where calls % 100 == 0:
            guard let last = batch.stored else { return batch }
            var update = last.update
            update.latitude += 0.001
            let moved = StoredUpdate(sequence: last.sequence, update: update)
            return UploadBatch(last: moved, lastIsPending: batch.lastIsPending, past: batch.past)
        case .neverSendsThePast:
            guard batch.lastIsPending, let last = batch.stored else { return nil }
            return UploadBatch(last: last, lastIsPending: true, past: [])
        default: return batch
        }
    }

    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload {
        calls += 1
        if bug == .forgetsAcknowledgements, calls % 50 < 2 { return try await self.nextUpload(for: next) }
        if bug == .countsTwice, !batch.lastIsPending { countedTwice += 1 }
        return changed(try await base.acknowledge(batch, next: next))
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try await base.quarantine(update, reason: reason)
    }

    func ledger() async throws(OutboxError) -> Ledger {
        var ledger = try await base.ledger()
        ledger.delivered += countedTwice
        if bug == .losesTheNewest {
            forgotten = forgotten ?? min(1, ledger.pending)
            ledger.accepted -= forgotten ?? 0
            ledger.pending -= min(ledger.pending, forgotten ?? 0)
        }
        return ledger
    }

    func close() async throws(OutboxError) { try await base.close() }
}
