import Operations
package import FleetEngine
import GNSS
import LinuxPlatform
package import Reporting
package import VehicleAuthorization

/// The vehicles of a load test. They share what a vehicle on the road has for itself, transport, cache of tokens,
/// monitor and log, and keep their updates in memory
/// ([decision 49](../../../../docs/decisions/0049-a-test-fleet-keeps-its-updates-in-memory.md)).
package struct TestFleet: Sendable {
    /// Updates of a vehicle that may be pending: some minutes at the usual interval, and 16 KiB.
    private static let capacity = 128
    /// To Fleet Engine at once, over HTTP/1.1: a thousand requests a second where each takes a quarter of one.
    package static let connections = 256
    /// The connections, the token endpoint's, and what every process has open.
    private static let descriptors = connections + 128
    /// Tokens that are asked for at once before the drives begin: as many as one connection of HTTP/2 carries.
    private static let tokensAtOnce = 100

    private struct Vehicle: Sendable {
        let outbox: MemoryOutbox
        let source: any FixSource
        let reporter: Reporter

        /// Until the source has ended and everything is delivered.
        func run() async -> FixSourceError? {
            do throws(FixSourceError) { try await reporter.run(source) } catch { return error }
            return nil
        }
    }

    private let vehicles: [Vehicle]
    private let names: [VehicleName]
    private let authorization: any VehicleAuthorization

    /// `authorization` is asked for all tokens before the drives begin.
    /// `parts` are of all vehicles, but for the source: `source` gives that of the vehicle at an index of `names`.
    package init(
        _ configuration: Configuration, names: [VehicleName], _ parts: VehicleAgent.Parts,
        authorization: any VehicleAuthorization,
        source: (Int) -> any FixSource
    ) {
        let observer = ReportingObservers(
            [parts.monitor, EventLog(log: parts.log, clock: parts.clock, isOfMany: true)] + parts.observers)
        self.names = names
        self.authorization = authorization
        vehicles = names.enumerated().map { index, name in
            var configuration = configuration
            configuration.vehicle = name
            let outbox = MemoryOutbox(capacity: Self.capacity, clock: parts.clock)
            let reporter = VehicleAgent.reporter(
                configuration, parts, outbox: outbox, newest: nil, observer: observer)
            return Vehicle(outbox: outbox, source: source(index), reporter: reporter)
        }
    }

    /// Makes sure that enough files may be open.
    package static func requireDescriptors() throws(AgentError) {
        let allowed = DescriptorLimit.raise(to: descriptors)
        guard allowed < descriptors else { return }
        throw AgentError(
            .unavailable,
            "too few open files are allowed: many vehicles need \(descriptors), and the hard limit is \(allowed); raise "
                + "it (ulimit -Hn, LimitNOFILE=)")
    }

    /// Asks for the tokens of all vehicles; asked for with the first updates they would be a rush, which makes these
    /// late.
    package func fetchTokens() async { await Self.fetchTokens(of: names, from: authorization) }

    /// Ends with the first that does not come: the vehicles will ask again, and say why.
    static func fetchTokens(of names: [VehicleName], from authorization: any VehicleAuthorization) async {
        await withTaskGroup(of: Bool.self) { group in
            for (index, name) in names.enumerated() {
                if index >= tokensAtOnce, await group.next() != true { return group.cancelAll() }
                group.addTask {
                    let context = AuthorizationContext(vehicleID: name.vehicleID)
                    return (try? await authorization.token(for: context)) != nil
                }
            }
            while await group.next() == true {}
            group.cancelAll()
        }
    }

    /// Runs until every source has ended and everything is delivered, or until cancelled.
    package func run() async throws(AgentError) {
        let failure = await withTaskGroup(of: FixSourceError?.self) { group in
            for vehicle in vehicles { group.addTask { await vehicle.run() } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw AgentError(.inputData, "\(failure)") }
    }

    /// The account of all vehicles together, and the longest that any update of one has waited for its delivery, those
    /// included that still do.
    package func account() async -> (ledger: Ledger, longestWait: Duration) {
        var ledger = Ledger()
        var longestWait = Duration.zero
        for vehicle in vehicles {
            // It is in memory, and never fails.
            if let own = try? await vehicle.outbox.ledger() { ledger = ledger + own }
            longestWait = max(longestWait, await vehicle.outbox.longestWait)
        }
        return (ledger, longestWait)
    }
}
