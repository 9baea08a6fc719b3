import Operations
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox

/// An outbox that answers in time, whatever its disk does.
///
/// A call that hangs is left after `patience`, with all that wait behind it; until it returns every call fails at once,
/// so that positions go out from memory. From then on the outbox is used again, and what it holds is delivered.
///
/// Without `progress` the calls are not watched and go to the outbox itself.
final class TimeLimitedOutbox<Store: Outbox>: Outbox {
    private struct Calls {
        /// Those that a caller waits for, until when, and what frees it.
        var waiting: [Int: (end: Duration, abandon: @Sendable () -> Void)] = [:]
        var isWatched = false
        /// Those that were left, and have not returned yet.
        var hanging: Set<Int> = []
        var lastNumber = 0
        var isOpening = false
    }

    private let outbox: Store
    private let clock: MonotonicClock
    private let progress: StageProgress?
    private let gaveUp: @Sendable () -> Void
    private let calls = Locked(Calls())

    /// Worn-out flash can take many seconds for an fsync.
    private static var patience: Duration { .seconds(30) }

    /// `gaveUp`: called each time that a call is left.
    init(
        _ outbox: Store, clock: MonotonicClock, progress: StageProgress?, gaveUp: @escaping @Sendable () -> Void = {}
    ) {
        self.outbox = outbox
        self.clock = clock
        self.progress = progress
        self.gaveUp = gaveUp
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate {
        try await call { outbox throws(OutboxError) in
            try await outbox.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: next)
        }
    }

    func next(_ request: BatchRequest) async throws(OutboxError) -> NextUpload {
        try await call { outbox throws(OutboxError) in try await outbox.next(request) }
    }

    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload {
        try await call { outbox throws(OutboxError) in try await outbox.acknowledge(batch, next: next) }
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try await call { outbox throws(OutboxError) in try await outbox.quarantine(update, reason: reason) }
    }

    func ledger() async throws(OutboxError) -> Ledger {
        try await call { outbox throws(OutboxError) in try await outbox.ledger() }
    }

    /// Comes after a call that hangs, and waits for it: whoever closes says for how long.
    func close() async throws(OutboxError) { try await outbox.close() }

    private func call<Value: Sendable>(
        within limit: Duration = patience, _ body: @escaping @Sendable (Store) async throws(OutboxError) -> Value
    ) async throws(OutboxError) -> Value {
        guard let progress else { return try await body(outbox) }
        let call = AbandonableCall<Result<Value, OutboxError>>()
        guard let number = begin(progress, until: clock.now + limit, abandon: call.abandon) else { throw silence }
        let result = await call.run { [self] in
            defer { end(number, progress) }
            do throws(OutboxError) { return .success(try await body(outbox)) } catch { return .failure(error) }
        }
        guard let result else { throw silence }
        return try result.get()
    }

    /// `nil` while another call hangs.
    private func begin(
        _ progress: StageProgress, until end: Duration, abandon: @escaping @Sendable () -> Void
    ) -> Int? {
        calls.withLock { calls in
            guard calls.hanging.isEmpty else { return nil }
            calls.lastNumber += 1
            calls.waiting[calls.lastNumber] = (end, abandon)
            progress.roused(.store)
            if !calls.isWatched {
                calls.isWatched = true
                Task { await watch() }
            }
            return calls.lastNumber
        }
    }

    /// Leaves what does not answer, while anybody waits. One timer serves all calls until it rings: a service at work
    /// wakes up for it each `patience`, and not for each call.
    private func watch() async {
        while let end = firstEnd() {
            await clock.sleep(until: end)
            giveUp(at: clock.now)
        }
    }

    private func firstEnd() -> Duration? {
        calls.withLock { calls in
            let end = calls.waiting.values.map(\.end).min()
            calls.isWatched = end != nil
            return end
        }
    }

    private func end(_ number: Int, _ progress: StageProgress) {
        calls.withLock { calls in
            calls.waiting[number] = nil
            calls.hanging.remove(number)
            if calls.waiting.isEmpty, calls.hanging.isEmpty { progress.rests(.store) } else { progress.moved(.store) }
        }
    }

    /// The others wait behind the one that is left, and are left with it.
    private func giveUp(at now: Duration) {
        let left = calls.withLock { calls in
            guard calls.waiting.values.contains(where: { $0.end <= now }) else { return [@Sendable () -> Void]() }
            defer { calls.waiting = [:] }
            calls.hanging.formUnion(calls.waiting.keys)
            return calls.waiting.values.map(\.abandon)
        }
        if !left.isEmpty { gaveUp() }  // first, so that whoever is freed finds it counted
        for abandon in left { abandon() }
    }

    private var silence: OutboxError {
        let words = calls.withLock { $0.isOpening } ? "is not open yet" : "does not answer"
        return OutboxError(.unusable, "the outbox \(words); check its disk (dmesg), it may be dying")
    }
}

extension TimeLimitedOutbox<SQLiteOutbox> {
    /// Opens it. Where that takes longer than a start may wait, it continues in the background.
    func open() async throws(OutboxError) {
        calls.withLock { $0.isOpening = true }
        try await call(within: .seconds(5)) { [calls] outbox throws(OutboxError) in
            defer { calls.withLock { $0.isOpening = false } }
            try await outbox.open()
        }
    }

    /// See `SQLiteOutbox.summary`.
    func summary() async throws(OutboxError) -> StoreSummary {
        try await call { outbox throws(OutboxError) in try await outbox.summary() }
    }

    /// See `SQLiteOutbox.extent`.
    func extent() async throws(OutboxError) -> StoreExtent {
        try await call { outbox throws(OutboxError) in try await outbox.extent() }
    }

    /// See `SQLiteOutbox.emptyLog`.
    func emptyLog() async throws(OutboxError) -> Bool {
        try await call { outbox throws(OutboxError) in try await outbox.emptyLog() }
    }

    /// See `SQLiteOutbox.maintain`.
    func maintain() async throws(OutboxError) -> Bool {
        try await call { outbox throws(OutboxError) in try await outbox.maintain() }
    }
}
