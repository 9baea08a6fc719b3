import Reporting

/// Methods that carry out the requests that tools have stored.
extension OutboxEngine {
    /// Carries out the tools' requests. Returns whether any update has become pending again.
    func handleRequests(_ store: OutboxStore) throws(OutboxError) -> Bool {
        guard let foreignChange = try store.foreignChange() else { return false }
        let table = try store.requestTable()
        var isAnyRequeued = false
        let requests = try table.unansweredRequests()
        for (id, request) in requests {
            let answer = try carryOut(request, in: store) { answer throws(OutboxError) in
                try table.store(answer, forRequest: id)
            }
            if case .done(let count, _) = answer, request?.action == .requeue, count > 0 { isAnyRequeued = true }
        }
        if requests.count < RequestTable.maximumAtOnce { store.markHandled(foreignChange) }
        return isAnyRequeued
    }

    func carryOut(_ request: QuarantineRequest) throws(OutboxError) -> QuarantineAnswer {
        try perform { store throws(OutboxError) in try carryOut(request, in: store) }
    }

    /// Carries out `request`, and passes the answer to `onAnswer` in the same transaction. If `request` is `nil`, the
    /// answer is `notUnderstood`.
    func carryOut(
        _ request: QuarantineRequest?, in store: OutboxStore,
        onAnswer: (QuarantineAnswer) throws(OutboxError) -> Void = { _ in }
    ) throws(OutboxError) -> QuarantineAnswer {
        var answer = QuarantineAnswer.notUnderstood
        try commitChanges(to: store) { next throws(OutboxError) in
            if let request { answer = try Self.apply(request, to: store, updating: &next) }
            try onAnswer(answer)
        }
        return answer
    }

    private static func apply(
        _ request: QuarantineRequest, to store: OutboxStore, updating next: inout OutboxCounters
    ) throws(OutboxError) -> QuarantineAnswer {
        let kept = try store.rows.quarantined()
        let chosen = kept.filter { request.sequences?.contains($0.stored.sequence) ?? true }
        if let sequences = request.sequences, chosen.count < sequences.count {
            return .unknown(sequences.subtracting(chosen.map(\.stored.sequence)).sorted())
        }
        let notKept = request.sequences == nil ? max(0, next.quarantined.count - Int64(kept.count)) : 0
        for update in chosen { try store.removeQuarantined(update.stored.sequence) }
        switch request.action {
        case .requeue:
            for update in chosen {
                next.requeue(update.stored)
                try store.insert(UpdateRecord(update.stored, isShapePoint: update.isShapePoint))
            }
        case .discard:
            // A request for all updates also discards the updates whose rows are no longer kept.
            var tally = UpdateTally(count: notKept, timesOfFix: notKept > 0 ? next.quarantined.timesOfFix : nil)
            for update in chosen { tally.add(update.stored.update.timeOfFix) }
            next.discard(tally)
        }
        next.narrowQuarantine(to: kept.filter { !chosen.contains($0) }.map(\.stored))
        try store.write(&next)
        let count = Int64(chosen.count)
        return request.action == .discard
            ? .done(count: count + notKept, notRequeued: 0) : .done(count: count, notRequeued: notKept)
    }
}
