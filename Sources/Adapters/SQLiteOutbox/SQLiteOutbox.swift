import LinuxPlatform
package import LocationReporting

/// The outbox on disk: SQLite on a thread of its own, one process at a time.
///
/// An update counts when SQLite has put its commit on the disk, or with economic durability when it waits for the
/// commit of a stated window. Acknowledgements of live updates are written by the commit of the next append, so that
/// one commit an update is all; a crash in between repeats one delivery.
/// `docs/architecture.md` has the whole; `StoreFormat` the form of the file.
package actor SQLiteOutbox: Outbox {
    private let executor: any SerialExecutor
    private var engine: OutboxEngine?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the store, creates it with its folder when there is none, replaces it when it is damaged (which
    /// `configuration.reportRecovery` tells).
    ///
    /// Its calls block, so that `executor` needs a thread of its own.
    ///
    /// - Throws: `locked`, `full`, `newerSchema`, or `unusable`.
    package static func open(
        _ configuration: OutboxSettings, on executor: any SerialExecutor = ThreadExecutor(named: "outbox")
    ) async throws(OutboxError) -> SQLiteOutbox {
        let outbox = SQLiteOutbox(executor)
        try await outbox.start(configuration)
        return outbox
    }

    private init(_ executor: any SerialExecutor) { self.executor = executor }

    private func start(_ configuration: OutboxSettings) throws(OutboxError) {
        engine = try OutboxEngine(configuration)
    }

    @discardableResult
    package func append(
        _ update: LocationUpdate, overrulingEarlier: Bool
    ) async throws(OutboxError) -> StoredUpdate {
        try opened().append(update, overrulingEarlier: overrulingEarlier)
    }

    package func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch? {
        try opened().nextBatch(maximumPastLocations: maximumPastLocations)
    }

    package func acknowledge(_ batch: UploadBatch) async throws(OutboxError) { try opened().acknowledge(batch) }

    package func quarantine(_ update: StoredUpdate, reason: String) async throws(OutboxError) {
        try opened().quarantine(update, reason: reason)
    }

    package func newest() async throws(OutboxError) -> StoredUpdate? { try opened().newest() }

    package func ledger() async throws(OutboxError) -> Ledger { try opened().ledger() }

    /// The ledger with reasons and times.
    package func summary() async throws(OutboxError) -> StoreSummary { try opened().summary() }

    /// How often `attend` is to be called.
    package static var attendanceInterval: Duration { OutboxEngine.attendanceInterval }

    /// Writes what has waited long enough, and takes up what tools have asked for; whether anything is pending again.
    package func attend() async throws(OutboxError) -> Bool { try opened().attend() }

    /// Does with quarantined updates what an operator wants.
    package func carryOut(_ request: QuarantineRequest) async throws(OutboxError) -> QuarantineAnswer {
        try opened().carryOut(request)
    }

    /// Releases the lock as well; closing twice is no error, every other call afterwards is.
    package func close() async throws(OutboxError) {
        try engine?.close()
        engine = nil
    }

    private func opened() throws(OutboxError) -> OutboxEngine {
        guard let engine else { throw OutboxError(.closed, "the outbox has been closed; nothing is accepted any more") }
        return engine
    }
}
