import LocationReporting

/// The real outbox, with the account looking over its shoulder after each call.
struct WatchedOutbox: Outbox {
    private let base: any Outbox
    private let world: World
    private let life: ProcessLife

    init(_ base: any Outbox, _ world: World, _ life: ProcessLife) {
        (self.base, self.world, self.life) = (base, world, life)
    }

    func append(_ update: LocationUpdate, overrulingEarlier: Bool) async throws(OutboxError) -> StoredUpdate {
        guard life.isAlive else { throw OutboxError(.closed, "the process is dead") }
        world.account.begin(update)
        do {
            let stored = try await base.append(update, overrulingEarlier: overrulingEarlier)
            guard life.isAlive else { return stored }
            judge(world.account.accept(stored, overrulingEarlier: overrulingEarlier, at: world.now))
            await check()
            return stored
        } catch {
            if life.isAlive {
                world.account.offer(update, overrulingEarlier: overrulingEarlier, at: world.now)
                world.trouble(for: .seconds(61))
            }
            throw error
        }
    }

    func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch? {
        try await watched { () throws(OutboxError) in
            try await base.nextBatch(maximumPastLocations: maximumPastLocations)
        }
    }

    func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        do throws(OutboxError) {
            try await watched { () throws(OutboxError) in try await base.acknowledge(batch) }
        } catch {
            world.account.allowDuplicates(batch.pending.count)
            throw error
        }
        await check()
    }

    func quarantine(_ update: StoredUpdate, reason: String) async throws(OutboxError) {
        try await watched { () throws(OutboxError) in try await base.quarantine(update, reason: reason) }
        await check()
    }

    func newest() async throws(OutboxError) -> StoredUpdate? {
        try await watched { () throws(OutboxError) in try await base.newest() }
    }

    func ledger() async throws(OutboxError) -> Ledger { try await base.ledger() }

    func close() async throws(OutboxError) { try await base.close() }

    private func watched<Result>(_ body: () async throws(OutboxError) -> Result) async throws(OutboxError) -> Result {
        guard life.isAlive else { throw OutboxError(.closed, "the process is dead") }
        do { return try await body() } catch {
            world.trouble(for: .seconds(62))
            throw error
        }
    }

    private func check() async {
        guard let ledger = try? await base.ledger(), life.isAlive else { return }
        judge(world.account.check(ledger, at: world.now))
    }

    private func judge(_ breach: DeliveryAccount.Breach?) {
        if let breach { world.breach(breach.law, breach.detail) }
    }
}
