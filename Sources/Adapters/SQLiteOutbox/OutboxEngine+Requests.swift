import LocationReporting

/// What tools ask for, carried out by the owner of the store.
extension OutboxEngine {
    /// Takes up what tools have left in the store; whether anything is pending again because of it.
    func takeUpRequests(_ store: OutboxStore) throws(StoreError) -> Bool {
        guard let change = try store.foreignChange(), let table = store.requests else { return false }
        var isAnyRequeued = false
        let requests = try table.open()
        for (id, request) in requests {
            let answer = try carryOut(request, store) { answer throws(StoreError) in
                try table.answer(id, answer)
            }
            if case .done(let count, _) = answer, request?.action == .requeue, count > 0 { isAnyRequeued = true }
        }
        if requests.count < RequestTable.atOnce { store.settle(change) }
        return isAnyRequeued
    }

    /// Carries `request` out with `note` in the same transaction, so that both are known or neither.
    func carryOut(
        _ request: QuarantineRequest?, _ store: OutboxStore,
        note: (QuarantineAnswer) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> QuarantineAnswer {
        var answer = QuarantineAnswer.notUnderstood
        try withReserve { () throws(StoreError) in
            try writeGathered(store)
            var next = account
            try transaction(on: store) { () throws(StoreError) in
                if let request { answer = try change(request, store, &next) }
                try note(answer)
            }
            account = next
        }
        return answer
    }

    private func change(
        _ request: QuarantineRequest, _ store: OutboxStore, _ next: inout OutboxAccount
    ) throws(StoreError) -> QuarantineAnswer {
        let kept = try store.rows.quarantined().map(\.stored)
        let chosen = kept.filter { request.sequences?.contains($0.sequence) ?? true }
        if let sequences = request.sequences, chosen.count < sequences.count {
            return .unknown(sequences.subtracting(chosen.map(\.sequence)).sorted())
        }
        let notKept = request.sequences == nil ? max(0, next.quarantined.count - Int64(kept.count)) : 0
        for stored in chosen { try store.removeQuarantined(stored.sequence) }
        switch request.action {
        case .requeue:
            for stored in chosen {
                next.requeue(stored)
                try store.insert(UpdateRecord(stored, newestSequence: next.newest?.sequence ?? stored.sequence))
            }
        case .discard:
            // Those that are not kept any more go with all the others.
            var tally = UpdateTally(count: notKept, timesOfFix: notKept > 0 ? next.quarantined.timesOfFix : nil)
            for stored in chosen { tally.add(stored.update.timeOfFix) }
            next.discard(tally)
        }
        next.narrowQuarantine(to: kept.filter { !chosen.contains($0) })
        try store.write(&next)
        let count = Int64(chosen.count)
        return request.action == .discard
            ? .done(count: count + notKept, notKept: 0) : .done(count: count, notKept: notKept)
    }
}
