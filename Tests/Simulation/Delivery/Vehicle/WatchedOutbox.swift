import ReportedText
import Reporting

/// An outbox that checks every call against the simulated world's account of updates.
struct WatchedOutbox: Outbox {
    private let base: any Outbox
    private let world: World
    private let life: ProcessLife
    private let disk: VehicleDisk

    init(_ base: any Outbox, world: World, life: ProcessLife, disk: VehicleDisk) {
        (self.base, self.world, self.life, self.disk) = (base, world, life, disk)
    }

    /// Whether the process is alive after a call, during which the power may have been cut.
    private var isAlive: Bool {
        if disk.isOff, life.isAlive {
            world.note(.cut, 1, 0, "the power was cut within a call")
            life.isAlive = false
            world.account.stop()
        }
        return life.isAlive
    }

    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendResult {
        guard life.isAlive else { throw OutboxError(.closed) }
        world.require(.privateIsSilent, world.privateFor == nil, "an update of a private vehicle is accepted")
        world.account.beginAppend(of: update, with: shapePoints, overrulingEarlier: overrulingEarlier)
        disk.prepare()
        let start = world.now
        defer { world.require(.notLate, world.now == start, "the outbox took \(world.now - start) for an update") }
        do {
            let appended = try await base.append(
                update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: next)
            guard isAlive else { return appended }
            judge(
                world.account.accept(
                    appended.stored, with: shapePoints, overrulingEarlier: overrulingEarlier, at: world.now))
            await check()
            return appended
        } catch {
            if isAlive {
                world.account.recordNotStored(update, overrulingEarlier: overrulingEarlier, at: world.now)
                // Another program's lock doesn't delay any position.
                if error.code != .busy { world.allowDelay(for: .seconds(61)) }
            }
            throw error
        }
    }

    func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        let next = try await watched { () throws(OutboxError) in try await base.nextUpload(for: request) }
        // A failed acknowledgement may be on the disk anyway, which is noticed when the outbox is next opened.
        if next.batch == nil { await check() }
        return next
    }

    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload {
        let answer: NextUpload
        do throws(OutboxError) {
            answer = try await watched { () throws(OutboxError) in try await base.acknowledge(batch, next: next) }
        } catch {
            world.account.allowDuplicates(batch.pending.count)
            throw error
        }
        // On a full disk, acknowledgements are kept in memory, and lost in a power cut.
        if world.isActive(.fullDisk) || world.isActive(.lockedOutbox) {
            world.account.allowDuplicates(batch.pending.count)
        }
        await check()
        return answer
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        world.require(
            .quarantineIsRefused, world.account.isRejected(UpdateKey(update.update)),
            "update \(update.sequence) is quarantined, but Fleet Engine would accept it")
        try await watched { () throws(OutboxError) in try await base.quarantine(update, reason: reason) }
        await check()
    }

    func ledger() async throws(OutboxError) -> Ledger { try await base.ledger() }

    func close() async throws(OutboxError) { try await base.close() }

    private func watched<Result>(_ body: () async throws(OutboxError) -> Result) async throws(OutboxError) -> Result {
        guard life.isAlive else { throw OutboxError(.closed) }
        disk.prepare()
        do { return try await body() } catch {
            guard isAlive else { throw error }
            world.allowDelay(for: .seconds(62))
            throw error
        }
    }

    private func check() async {
        while true {
            let accepted = world.account.accepted
            guard let ledger = try? await base.ledger(), isAlive else { return }
            // If an append has ended since, the ledger is outdated and is read again.
            if world.account.accepted == accepted { return judge(world.account.check(ledger, at: world.now)) }
        }
    }

    private func judge(_ breach: DeliveryAccount.Breach?) {
        if let breach { world.recordBreach(breach.law, breach.detail) }
    }
}
