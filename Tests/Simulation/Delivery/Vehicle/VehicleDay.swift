import FleetEngine
import HTTPMessages
import Reporting

/// The days of one vehicle: drives and stops, many of them with a power cut.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class VehicleDay: @unchecked Sendable {
    private let world: World
    private let environment: AgentProcess.Environment
    private let server: FleetEngineDouble
    private var dice: Dice
    private var process: AgentProcess?

    init(_ world: World) throws {
        self.world = world
        var dice = Dice(seed: world.scenario.seed, stream: .power)
        let vehicle = try VehicleName(
            service: dice.chance(0.7) ? .onDemandTrips : .scheduledTasks, providerID: "fleet",
            vehicleID: "van-\(world.scenario.seed)")
        let issuer = TokenIssuer(world)
        server = FleetEngineDouble(world, issuer: issuer, vehicle: vehicle)
        let network = Network(world, server: server)
        issuer.isReachable = { [unowned network] in network.isUp }
        environment = AgentProcess.Environment(
            world: world, vehicle: vehicle, endpoint: try HTTPURL("https://fleetengine.googleapis.com"),
            receiver: Receiver(world), network: network, issuer: issuer, disk: try VehicleDisk(world))
        self.dice = dice
    }

    func remove() { environment.disk.remove() }

    /// Runs until all faults have ended and everything is delivered.
    func run() async {
        let (linkWatch, switchWatch) = (Task { await watchLink() }, Task { await watchSwitch() })
        while world.now < world.faultsEnd {
            await start()
            environment.receiver.activity = .driving
            await waitAndReload(for: dice.skewedSeconds(120...7200))
            environment.receiver.activity = dice.chance(0.7) ? .parked : .off
            await endDrive()
        }
        for watch in [linkWatch, switchWatch] {
            watch.cancel()
            await watch.value
        }
        await drain()
    }

    /// Ends a drive: with a power cut, a kill, a shutdown, or a pause.
    private func endDrive() async {
        await waitAndReload(for: dice.skewedSeconds(1...600))
        if world.strikes(.powerCut) {
            await cutPower()
        } else if world.strikes(.kill) {
            world.note(.kill, 0, 0, "kill -9")
            environment.disk.cutOff()
            await endProcess()
            await world.clock.wait(for: .seconds(5))
        } else if world.strikes(.termination) {
            await process?.terminate()
            process = nil
            await world.clock.wait(for: dice.skewedSeconds(5...3600))
        } else {
            await waitAndReload(for: dice.skewedSeconds(60...14_400))
        }
    }

    private func cutPower() async {
        environment.disk.cutPower(atCall: dice.chance(0.5) ? 0 : 1 + dice.below(30))
        for _ in 0..<120 where !environment.disk.isOff { await world.clock.wait(for: .seconds(1)) }
        environment.disk.cutPower(atCall: 0)
        world.note(.cut, 0, 0, "the power is cut")
        await endProcess()
        await world.clock.wait(for: dice.skewedSeconds(10...3600))
    }

    private func endProcess() async {
        await process?.kill()
        process = nil
    }

    /// Starts the service unless it is running. If that fails, tries again every five seconds, like systemd.
    private func start() async {
        while process == nil {
            environment.disk.powerOn()
            environment.disk.prepare()
            do { process = try await AgentProcess(environment) } catch {
                world.note(.outboxFailed, 0, 0, "the service cannot start: \(error)")
                await world.clock.wait(for: .seconds(5))
            }
        }
    }

    /// Waits for `time`. Reloads the configuration whenever a reload is due.
    private func waitAndReload(for time: Duration) async {
        let end = world.now + min(time, max(.seconds(1), world.faultsEnd - world.now))
        while let due = world.nextSpell(.reload), due.lowerBound < end {
            await world.clock.wait(for: max(.zero, due.lowerBound - world.now) + .milliseconds(1))
            if world.isActive(.reload) { await reload() }
            await world.clock.wait(for: max(.milliseconds(1), due.upperBound - world.now))
        }
        await world.clock.wait(for: max(.zero, end - world.now))
    }

    /// Restarts the service with the same outbox, without sending a state to Fleet Engine.
    private func reload() async {
        guard process != nil else { return }
        world.note(.reload, 0, 0, "the configuration is read again")
        server.recordReload()
        await process?.terminate(isSilent: world.scenario.bug != .announcesReloads)
        process = nil  // releases the lock of an outbox that could not be closed
        await start()
    }

    /// Notifies the process after each outage that the kernel notices.
    private func watchLink() async {
        while !Task.isCancelled, let outage = world.nextSpell(.outage) {
            await world.clock.wait(for: outage.upperBound - world.now + .milliseconds(1))
            if Task.isCancelled { return }
            world.note(.networkBack, 0, 0, "the network is back")
            server.networkReturned()
            await process?.networkReturned()
        }
    }

    private func watchSwitch() async {
        while !Task.isCancelled, let time = world.nextSpell(.privateTime) {
            await world.clock.wait(for: max(.zero, time.lowerBound - world.now) + .milliseconds(1))
            if Task.isCancelled { return }
            world.note(.privateTime, 1, 0, "the vehicle is private")
            world.account.beginPrivateTime(until: time.upperBound + .seconds(61))
            await process?.readPrivateSwitch()
            await world.clock.wait(for: time.upperBound - world.now + .milliseconds(1))
            world.note(.privateTime, 0, 0, "the vehicle is no longer private")
            await process?.readPrivateSwitch()
        }
    }

    /// Waits, without faults, until everything is delivered.
    private func drain() async {
        environment.receiver.activity = .off
        await start()
        await world.clock.wait(for: .seconds(5))  // for the last fix
        let deadline = world.now + .seconds(3600)
        while !world.account.isDrained, world.now < deadline, world.violation == nil {
            await world.clock.wait(for: .seconds(10))
        }
        await process?.terminate()
        process = nil
        let ledger = world.account.ledger
        world.require(.drains, world.account.isDrained, "an hour after the last fault: \(ledger)")
        world.require(.drains, world.account.missing <= 0, "\(world.account.missing) updates are missing: \(ledger)")
        world.note(.end, ledger.accepted, ledger.delivered, "the end: \(ledger)")
    }
}
