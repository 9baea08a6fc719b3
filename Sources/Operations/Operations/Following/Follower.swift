public import FleetEngine
import Conditions
package import HTTPMessages
import ReportedText
package import Reporting
public import VehicleAuthorization

/// A consumer of positions. It follows one trip or vehicle by sending a request to Fleet Engine every 5 seconds.
///
/// ```swift
/// let follower = try Follower(configuration, .trip("trip-7"))
/// try await follower.run { event in print(event) }
/// ```
public struct Follower: Sendable {
    /// The trip or vehicle to follow, identified by its id in Fleet Engine.
    public enum Subject: Sendable, Hashable {
        /// A trip of the on-demand service. Following it requires a consumer token.
        case trip(String)
        /// A vehicle of the configured service. Following it requires a driver token.
        case vehicle(String)
    }

    package struct Settings: Sendable {
        package var resource: FollowedResource
        package var context: AuthorizationContext
        package var endpoint: HTTPURL
        package var limits: HTTPLimits
        package var retry: RetryPolicy

        package init(
            _ resource: FollowedResource, context: AuthorizationContext, endpoint: HTTPURL, limits: HTTPLimits,
            retry: RetryPolicy
        ) {
            self.resource = resource
            self.context = context
            self.endpoint = endpoint
            self.limits = limits
            self.retry = retry
        }
    }

    private let settings: Settings
    private let authorization: any VehicleAuthorization
    private let transport: any HTTPTransport
    private let clock: MonotonicClock
    private let jitter: @Sendable () -> Double

    /// Creates a follower. `jitter` returns a random number from 0...1.
    package init(
        _ settings: Settings, authorization: any VehicleAuthorization, transport: any HTTPTransport,
        clock: MonotonicClock, jitter: @escaping @Sendable () -> Double
    ) {
        self.settings = settings
        self.authorization = authorization
        self.transport = transport
        self.clock = clock
        self.jitter = jitter
    }

    /// Follows a trip until it is complete or cancelled, or a vehicle indefinitely. Returns early if the task is
    /// cancelled.
    ///
    /// If a request fails, the failure is reported as trouble, and the request is sent again later.
    ///
    /// - Parameter report: receives every event.
    /// - Throws: any error that `report` throws.
    public func run<Failure: Error>(
        reporting report: (FollowEvent) async throws(Failure) -> Void
    ) async throws(Failure) {
        var decisions = FollowDecisions(retry: settings.retry)
        while !Task.isCancelled {
            let (events, step) = await requestSnapshot(updating: &decisions)
            guard !Task.isCancelled else { return }  // the cancellation may have aborted the request
            for event in events { try await report(event) }
            switch step {
            case .sendRequest(let pause): await clock.sleep(for: pause)
            case .renewToken: break
            case .end: return
            }
        }
    }

    private func requestSnapshot(updating decisions: inout FollowDecisions) async -> FollowDecisions.Decision {
        let token: AuthorizationToken
        do { token = try await authorization.token(for: settings.context) } catch {
            return decisions.receive(tokenError: error, jitter: jitter())
        }
        let outcome = await read(with: token, routeVersion: decisions.routeVersion)
        if case .tokenRejected = outcome { await authorization.discard(token, for: settings.context) }
        return decisions.receive(outcome, at: clock.now, jitter: jitter())
    }

    private func read(with token: AuthorizationToken, routeVersion: String?) async -> ReadOutcome {
        let request: HTTPRequest
        do {
            request = try settings.resource.request(
                to: settings.endpoint, token: token.value, routeVersion: routeVersion, limits: settings.limits)
        } catch { return .hold(reason: "the address of \(settings.resource) \(error)") }
        do { return ReadOutcome(of: try await transport.send(request), to: request, for: settings.resource) } catch {
            return ReadOutcome(of: error)
        }
    }
}

/// An event that a follower reports about its trip or vehicle.
public enum FollowEvent: Sendable, Hashable {
    /// The first snapshot, or a snapshot whose position, status or distance differs from the previous snapshot's.
    case changed(FollowedSnapshot)
    /// Nothing has changed for this time, although an active vehicle sends an update at least once per minute.
    case silent(Duration)
    /// Requests fail for this reason. The same reason is reported only once in a row.
    case trouble(String)
    /// Requests succeed again.
    case recovered
}

extension Follower {
    /// Creates a follower of `subject` that sends its requests to the configured Fleet Engine.
    ///
    /// - Parameters:
    ///   - configuration: the configuration. Its `consumerAuthorization` provides the tokens for a trip, and its
    ///     `authorization` provides the tokens for a vehicle.
    ///   - subject: the trip or vehicle to follow.
    ///   - authorization: a token provider to use instead of the configured one; `nil` uses the configured one.
    /// - Throws: an error if the id isn't valid, or if a trip should be followed but no provider for its tokens is
    ///   configured.
    public init(
        _ configuration: Configuration, _ subject: Subject, authorization: (any VehicleAuthorization)? = nil
    ) throws(AgentError) {
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let effective = try authorization == nil ? configuration.withProvider(for: subject) : configuration
        let provider: any VehicleAuthorization
        let report: @Sendable (TokenEvent) -> Void = {
            if case .warnings(let warnings) = $0, !warnings.isEmpty { log.write(Condition(warnings)) }
        }
        if let authorization { provider = authorization } else { provider = try effective.makeProvider(report: report) }
        let settings = Settings(
            try configuration.resource(of: subject), context: AuthorizationContext(subject),
            endpoint: configuration.upload.endpoint, limits: HTTPLimits(total: configuration.upload.timeout),
            retry: configuration.upload.retry)
        self.init(
            settings, authorization: effective.makeTokenCache(for: provider, clock: ContinuousClock(), report: report),
            transport: try configuration.makeTransport(),
            clock: MonotonicClock(ContinuousClock()), jitter: { Double.random(in: 0...1) })
    }
}

extension AuthorizationContext {
    init(_ subject: Follower.Subject) {
        switch subject {
        case .trip(let id): self.init(tripID: id)
        case .vehicle(let id): self.init(vehicleID: id)
        }
    }
}

extension Configuration {
    /// Returns the configuration with the token provider that following `subject` requires. Throws if none is
    /// configured.
    func withProvider(for subject: Follower.Subject) throws(AgentError) -> Configuration {
        guard case .trip = subject else { return self }
        if let consumerConfiguration { return consumerConfiguration }
        throw AgentError(
            .configuration,
            "the configuration has no \"consumerAuthorization\", the source of consumer tokens; add it in the same form as "
                + "\"authorization\", for example { \"type\": \"http\", \"url\": \"https://HOST/token/consumer/{tripId}\", "
                + "\"tokenKey\": \"TRIP_TOKEN_KEY\" }")
    }

    /// Returns the full name of the trip or vehicle in Fleet Engine.
    func resource(of subject: Follower.Subject) throws(AgentError) -> FollowedResource {
        switch subject {
        case .trip(let id):
            guard vehicle.service == .onDemandTrips else {
                throw AgentError(
                    .configuration, "\"vehicle.service\" is scheduledTasks, which has no trips; follow a vehicle")
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
