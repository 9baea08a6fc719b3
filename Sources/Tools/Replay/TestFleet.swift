import Operations
import FleetEngine
import GNSS
import LinuxPlatform
import Reporting
import VehicleAuthorization
import Waypost

/// The vehicles of a load test. They share a transport, a token cache, a monitor and a log, and keep their updates in
/// memory ([decision 49](../../../../docs/decisions/0049-a-test-fleet-keeps-its-updates-in-memory.md)).
struct TestFleet: Sendable {
    /// The maximum number of pending updates per vehicle. They cover about 20 minutes at the default interval and take
    /// 16 KiB.
    private static let capacity = 128
    /// The maximum number of HTTP/1.1 connections to Fleet Engine. They carry a thousand requests per second if each
    /// request takes a quarter of a second.
    static let connections = 256
    /// The number of file descriptors that a load test needs: for connections to Fleet Engine and to the token
    /// endpoint, and for the process itself.
    private static let descriptors = connections + 128
    /// The maximum number of tokens that are fetched concurrently before the drives begin. It equals the number of
    /// streams on one HTTP/2 connection.
    private static let tokensAtOnce = 100

    private struct Vehicle: Sendable {
        let outbox: MemoryOutbox
        let source: any FixSource
        let reporter: Reporter

        /// Runs until the source has ended and every update is delivered. Returns the source's error; `nil` if there
        /// was none.
        func run() async -> FixSourceError? {
            do throws(FixSourceError) { try await reporter.run(source) } catch { return error }
            return nil
        }
    }

    private let vehicles: [Vehicle]
    private let names: [VehicleName]
    private let authorization: any VehicleAuthorization

    /// Creates the fleet.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of all vehicles.
    ///   - names: the vehicles' names.
    ///   - parts: the parts that all vehicles share. Their `source` isn't used.
    ///   - authorization: the provider of the tokens that `fetchTokens` fetches before the drives begin.
    ///   - source: a function that returns the source of fixes for the vehicle at the given index of `names`.
    init(
        _ configuration: Configuration, names: [VehicleName], _ parts: VehicleAgent.Parts,
        authorization: any VehicleAuthorization,
        source: (Int) -> any FixSource
    ) {
        let observer = ReportingObservers(
            [parts.monitor, EventLog(log: parts.log, clock: parts.clock, servesManyVehicles: true)] + parts.observers)
        self.names = names
        self.authorization = authorization
        vehicles = names.enumerated().map { index, name in
            var configuration = configuration
            configuration.vehicle = name
            let outbox = MemoryOutbox(capacity: Self.capacity, clock: parts.clock)
            let reporter = VehicleAgent.makeReporter(
                configuration, parts, outbox: outbox, newest: nil, observer: observer)
            return Vehicle(outbox: outbox, source: source(index), reporter: reporter)
        }
    }

    /// Raises the process's limit on open files to the number that a load test needs, unless it is already high enough.
    ///
    /// - Throws: an error if the hard limit is too low.
    static func raiseDescriptorLimit() throws(AgentError) {
        let allowed = DescriptorLimit.raise(to: descriptors)
        guard allowed < descriptors else { return }
        throw AgentError(
            .unavailable,
            "too few open files are allowed: many vehicles need \(descriptors), but the hard limit is \(allowed); "
                + "raise the limit (ulimit -Hn, LimitNOFILE=)")
    }

    /// Fetches the tokens of all vehicles before the drives begin, because fetching them later would delay the first
    /// updates.
    func fetchTokens() async { await Self.fetchTokens(of: names, from: authorization) }

    /// Fetches tokens until all are fetched or one fetch fails. After a failure, each vehicle requests its token again
    /// and reports the reason.
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

    /// Runs until every source has ended and every update is delivered, or until the task is cancelled.
    func run() async throws(AgentError) {
        let failure = await withTaskGroup(of: FixSourceError?.self) { group in
            for vehicle in vehicles { group.addTask { await vehicle.run() } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw AgentError(.inputData, "\(failure)") }
    }

    /// Returns the combined ledger of all vehicles, and the longest time that any update, delivered or pending, has
    /// waited for delivery.
    func totals() async -> (ledger: Ledger, maximumWait: Duration) {
        var ledger = Ledger()
        var maximumWait = Duration.zero
        for vehicle in vehicles {
            // An outbox in memory never fails, so no vehicle is left out.
            if let own = try? await vehicle.outbox.ledger() { ledger = ledger + own }
            maximumWait = max(maximumWait, await vehicle.outbox.maximumWait)
        }
        return (ledger, maximumWait)
    }
}
