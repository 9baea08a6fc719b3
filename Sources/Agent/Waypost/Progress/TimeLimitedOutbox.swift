import Operations
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox

/// An outbox whose calls return within a time limit, even if the disk hangs.
///
/// A call that hangs is abandoned after `timeLimit`, together with all calls that wait for it. Until the hanging call
/// returns, every new call fails at once, and positions are sent from memory. After that, the outbox is used again, and
/// the updates in it are delivered.
///
/// If `progress` is `nil`, calls have no time limit and go directly to the outbox.
final class TimeLimitedOutbox<Store: Outbox>: Outbox {
    private struct Calls {
        /// The calls in progress, by number. Each has a deadline and a closure that abandons the call.
        var waiting: [Int: (end: Duration, abandon: @Sendable () -> Void)] = [:]
        var isWatched = false
        /// The numbers of abandoned calls that haven't returned yet.
        var hanging: Set<Int> = []
        var lastNumber = 0
        var isOpening = false
    }

    private let outbox: Store
    private let clock: MonotonicClock
    private let progress: StageProgress?
    private let onBypass: @Sendable () -> Void
    private let calls = Locked(Calls())

    /// The time limit of a call. It is long because an fsync can take many seconds on worn-out flash memory.
    private static var timeLimit: Duration { .seconds(30) }

    /// Wraps `outbox`. Calls `onBypass` once whenever calls are abandoned.
    init(
        _ outbox: Store, clock: MonotonicClock, progress: StageProgress?, onBypass: @escaping @Sendable () -> Void = {}
    ) {
        self.outbox = outbox
        self.clock = clock
        self.progress = progress
        self.onBypass = onBypass
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate {
        try await call { outbox throws(OutboxError) in
            try await outbox.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: next)
        }
    }

    func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        try await call { outbox throws(OutboxError) in try await outbox.nextUpload(for: request) }
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

    /// Closes the outbox once any hanging call has returned. This call has no time limit, so the caller must limit its
    /// time.
    func close() async throws(OutboxError) { try await outbox.close() }

    private func call<Value: Sendable>(
        within limit: Duration = timeLimit, _ body: @escaping @Sendable (Store) async throws(OutboxError) -> Value
    ) async throws(OutboxError) -> Value {
        guard let progress else { return try await body(outbox) }
        let call = AbandonableCall<Result<Value, OutboxError>>()
        guard let number = beginCall(reportingTo: progress, until: clock.now + limit, abandon: call.abandon) else {
            throw silentError
        }
        let result = await call.run { [self] in
            defer { endCall(number, reportingTo: progress) }
            do throws(OutboxError) { return .success(try await body(outbox)) } catch { return .failure(error) }
        }
        guard let result else { throw silentError }
        return try result.get()
    }

    /// Registers a call and returns its number. Returns `nil`, and registers nothing, while an abandoned call still
    /// hangs.
    private func beginCall(
        reportingTo progress: StageProgress, until end: Duration, abandon: @escaping @Sendable () -> Void
    ) -> Int? {
        calls.withLock { calls in
            guard calls.hanging.isEmpty else { return nil }
            calls.lastNumber += 1
            calls.waiting[calls.lastNumber] = (end, abandon)
            progress.markBusy(.store)
            if !calls.isWatched {
                calls.isWatched = true
                Task { await watchCalls() }
            }
            return calls.lastNumber
        }
    }

    /// Abandons overdue calls until no call is in progress. One timer serves all calls, so that a busy service wakes up
    /// once per `timeLimit`, not once per call.
    private func watchCalls() async {
        while let end = earliestDeadline() {
            await clock.sleep(until: end)
            abandonCalls(at: clock.now)
        }
    }

    private func earliestDeadline() -> Duration? {
        calls.withLock { calls in
            let end = calls.waiting.values.map(\.end).min()
            calls.isWatched = end != nil
            return end
        }
    }

    private func endCall(_ number: Int, reportingTo progress: StageProgress) {
        calls.withLock { calls in
            calls.waiting[number] = nil
            calls.hanging.remove(number)
            if calls.waiting.isEmpty, calls.hanging.isEmpty {
                progress.markIdle(.store)
            } else {
                progress.reportProgress(of: .store)
            }
        }
    }

    /// Abandons all calls if any call is overdue, because the outbox runs one call at a time and the others wait for
    /// it.
    private func abandonCalls(at now: Duration) {
        let left = calls.withLock { calls in
            guard calls.waiting.values.contains(where: { $0.end <= now }) else { return [@Sendable () -> Void]() }
            defer { calls.waiting = [:] }
            calls.hanging.formUnion(calls.waiting.keys)
            return calls.waiting.values.map(\.abandon)
        }
        if !left.isEmpty { onBypass() }  // count the bypass before the callers see it
        for abandon in left { abandon() }
    }

    private var silentError: OutboxError {
        OutboxError(.silent, calls.withLock { $0.isOpening } ? .opening : nil)
    }
}

extension TimeLimitedOutbox<SQLiteOutbox> {
    /// Opens the outbox. Throws if that takes more than five seconds; the outbox then continues to open in the
    /// background.
    func open() async throws(OutboxError) {
        calls.withLock { $0.isOpening = true }
        try await call(within: .seconds(5)) { [calls] outbox throws(OutboxError) in
            defer { calls.withLock { $0.isOpening = false } }
            try await outbox.open()
        }
    }

    /// Returns a summary of the outbox, as `SQLiteOutbox.summary` does.
    func summary() async throws(OutboxError) -> StoreSummary {
        try await call { outbox throws(OutboxError) in try await outbox.summary() }
    }

    /// Returns the outbox's size and the age of its updates, as `SQLiteOutbox.extent` does.
    func extent() async throws(OutboxError) -> StoreExtent {
        try await call { outbox throws(OutboxError) in try await outbox.extent() }
    }

    /// Truncates the write-ahead log and returns whether that succeeded, as `SQLiteOutbox.truncateLog` does.
    func truncateLog() async throws(OutboxError) -> Bool {
        try await call { outbox throws(OutboxError) in try await outbox.truncateLog() }
    }

    /// Does the maintenance that is due, and returns a summary of the outbox, as `SQLiteOutbox.maintain` does.
    func maintain() async throws(OutboxError) -> (summary: StoreSummary, hasRequeued: Bool) {
        try await call { outbox throws(OutboxError) in try await outbox.maintain() }
    }
}
