import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import Reporting
import SQLiteOutbox
import TimeAndRandomness
import VehicleAuthorization

/// A process of the service: the real components, connected as in `VehicleAgent`, in the simulated world.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class AgentProcess: @unchecked Sendable {
    /// The parts of the world to which the process is connected.
    struct Environment {
        let world: World
        let vehicle: VehicleName
        let endpoint: HTTPURL
        let receiver: Receiver
        let network: Network
        let issuer: TokenIssuer
        let disk: VehicleDisk
    }

    private let world: World
    private let life: ProcessLife
    private let outbox: any Outbox
    private let reporter: Reporter
    private let authorization: any VehicleAuthorization
    private let hasPresence: Bool
    private var task: Task<Void, Never>?

    /// Opens the outbox, connects the components and starts them.
    init(_ environment: Environment) async throws(OutboxError) {
        let world = environment.world
        let life = ProcessLife()
        (self.world, self.life) = (world, life)
        environment.issuer.processStarted()
        environment.network.processStarted(life)
        let bug = world.scenario.bug
        var dice = Dice(seed: world.scenario.seed &+ UInt64(world.eventCount), stream: .jitter)
        let seed = dice.next()
        let jitter = JitterDice(seed: seed)

        let store = try await SQLiteOutbox.open(environment.disk.configuration, on: world.queue)
        var opened: any Outbox = store
        if let bug { opened = bug.wrapped(opened, in: world) }
        let ledger = try await opened.ledger()
        let newest = try await opened.nextUpload(for: BatchRequest(maximumPastLocations: 0, withBacklog: false)).newest?
            .update
        if let breach = world.account.open(ledger, at: world.now) { world.recordBreach(breach.law, breach.detail) }
        outbox = WatchedOutbox(opened, world: world, life: life, disk: environment.disk)

        let issuer: any VehicleAuthorization = environment.issuer
        let cached = CachedAuthorization(issuer, clock: world.clock, jitter: { jitter.draw() }, report: { _ in })
        if let bug {
            authorization = bug.wrapped(cached, issuer: issuer, in: world)
        } else {
            authorization = cached
        }
        var settings = UploadSettings()
        bug?.change(&settings)
        let observer = ProcessObserver(world: world, life: life)
        var transport: any HTTPTransport = environment.network
        if let bug { transport = bug.wrapped(transport, in: world) }
        let clock = bug == .losesWakeups ? MonotonicClock(LateClock(world.clock)) : MonotonicClock(world.clock)
        let delivery = FleetEngineDelivery(
            of: environment.vehicle, to: environment.endpoint, authorization: authorization, transport: transport)
        hasPresence = delivery.hasPresence
        let knowsPresent = dice.chance(0.7)
        let reporter = Reporter(
            ReportingSettings(
                plausibility: Plausibility(
                    earliest: world.origin,
                    expected: knowsPresent ? world.utc : world.origin.advanced(by: .seconds(-9e7)), newest: newest),
                upload: settings),
            outbox: outbox, delivery: delivery,
            privateSwitch: { bug != .seesNoSwitch && world.privateFor != nil },
            latestTime: { world.utc.advanced(by: .seconds(600)) }, clock: clock, jitter: { jitter.draw() },
            observer: observer)
        self.reporter = reporter
        let companion = Companion(
            world: world, authorization: authorization, vehicleID: environment.vehicle.vehicleID + "-b")
        world.note(.start, ledger.accepted, ledger.pending, "the service starts: \(ledger)")
        task = Task {
            await reporter.readPrivateSwitch()
            await withDiscardingTaskGroup { group in
                group.addTask { await companion.run() }
                if bug == .endsAnActionTwice {
                    group.addTask {
                        await world.clock.wait(for: .seconds(600))
                        if !Task.isCancelled { await reporter.receive(.resultRecorded(nil)) }
                    }
                }
                do { try await reporter.run(environment.receiver) } catch {
                    world.recordBreach(.neverStuck, "the reporter ended: \(error)")
                }
                group.cancelAll()
            }
        }
    }

    func networkReturned() async {
        guard life.isAlive, world.scenario.bug != .ignoresTheNetwork else { return }
        await reporter.networkReturned()
    }

    func readPrivateSwitch() async { if life.isAlive { await reporter.readPrivateSwitch() } }

    /// Ends the process as SIGTERM does: cancels it, sends the last state within three seconds, and closes the outbox.
    ///
    /// - Parameter isSilent: whether to send no state, as in a reload.
    func terminate(isSilent: Bool = false) async {
        if !isSilent { world.note(.stop, 0, 0, "SIGTERM") }
        await cancel()
        if hasPresence, !isSilent {
            await withTaskGroup { group in
                group.addTask { [reporter] in _ = try? await reporter.announce(presence: .offline) }
                group.addTask { [world] in await world.clock.wait(for: .seconds(3)) }
                await group.next()
                group.cancelAll()
            }
        }
        if let ledger = try? await outbox.ledger(), let breach = world.account.check(ledger, at: world.now) {
            world.recordBreach(breach.law, breach.detail)
        }
        life.isAlive = false
        do { try await outbox.close() } catch { world.account.allowDuplicates(FleetEngineDouble.maximumBatch) }
        world.account.stop()
    }

    /// Ends the process at once. Its disk must already be cut off.
    func kill() async {
        life.isAlive = false
        world.account.stop()
        world.account.allowDuplicates(FleetEngineDouble.maximumBatch)
        await cancel()
    }

    private func cancel() async {
        let start = world.now
        task?.cancel()
        await task?.value
        task = nil
        world.require(.stopsAtOnce, world.now == start, "the end took \(world.now - start)")
    }
}
