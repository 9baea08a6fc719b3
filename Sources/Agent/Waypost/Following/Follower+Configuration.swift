import FleetEngine
import HTTPMessages
import LocationReporting
public import VehicleAuthorization

extension Follower {
    /// A follower of `subject` at the configured Fleet Engine.
    ///
    /// A trip's tokens come from `consumerAuthorization`, a vehicle's from `authorization`; `authorization`, where
    /// given, is asked in place of either.
    ///
    /// - Throws: when the id can be none, or nothing says where a trip's tokens come from.
    public init(
        _ configuration: Configuration, _ subject: Subject, authorization: (any VehicleAuthorization)? = nil
    ) throws(AgentError) {
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let provider: any VehicleAuthorization
        if let authorization {
            provider = configuration.cached(authorization, clock: ContinuousClock(), log: log) {}
        } else {
            provider = try configuration.asked(for: subject).makeAuthorization(
                clock: ContinuousClock(), log: log, fetched: {})
        }
        let settings = Settings(
            try configuration.resource(of: subject), context: AuthorizationContext(subject),
            endpoint: configuration.upload.endpoint, limits: HTTPLimits(total: configuration.upload.timeout),
            retry: configuration.upload.retry)
        self.init(
            settings, authorization: provider, transport: try configuration.makeTransport(),
            clock: MonotonicClock(ContinuousClock()), jitter: { Double.random(in: 0...1) })
    }
}

extension AuthorizationContext {
    fileprivate init(_ subject: Follower.Subject) {
        switch subject {
        case .trip(let id): self.init(tripID: id)
        case .vehicle(let id): self.init(vehicleID: id)
        }
    }
}

extension Configuration {
    /// The configuration whose provider has the tokens for `subject`.
    fileprivate func asked(for subject: Follower.Subject) throws(AgentError) -> Configuration {
        guard case .trip = subject else { return self }
        if let forConsumers { return forConsumers }
        throw AgentError(
            .configuration,
            "the configuration has no \"consumerAuthorization\", which says where a trip's tokens come from; write it like "
                + "\"authorization\", as { \"type\": \"http\", \"url\": \"https://HOST/token/consumer/{tripId}\", "
                + "\"tokenKey\": \"TRIP_TOKEN_KEY\" }")
    }

    fileprivate func resource(of subject: Follower.Subject) throws(AgentError) -> FollowedResource {
        switch subject {
        case .trip(let id):
            guard vehicle.service == .onDemandTrips else {
                throw AgentError(
                    .configuration, "\"vehicle.service\" is scheduledTasks, which have no trips; follow a vehicle")
            }
            do { return .trip(try TripName(providerID: vehicle.providerID, tripID: id)) } catch {
                throw AgentError(.configuration, "the trip id \"\(id)\" \(error)")
            }
        case .vehicle(let id):
            do {
                return .vehicle(
                    try VehicleName(service: vehicle.service, providerID: vehicle.providerID, vehicleID: id))
            } catch { throw AgentError(.configuration, "the vehicle id \"\(id)\" \(error)") }
        }
    }
}
