import FleetEngine
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import VehicleAuthorization
import Operations
import WaypostTestSupport

/// The follower's loop with a scripted Fleet Engine and a manual clock.
@Suite(.timeLimit(.minutes(1))) struct Followers {
    private static func makeFollower(
        _ transport: ScriptedTransport, _ authorization: ScriptedAuthorization, _ clock: ManualClock
    ) throws -> Follower {
        let settings = Follower.Settings(
            .trip(try TripName(providerID: "p", tripID: "t")), context: AuthorizationContext(tripID: "t"),
            endpoint: try HTTPURL("https://fleetengine.googleapis.com"), limits: HTTPLimits(),
            retry: RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60)))
        return Follower(
            settings, authorization: authorization, transport: transport, clock: MonotonicClock(clock), jitter: { 0.5 })
    }

    private static func tripResponse(status: String) -> HTTPResponse {
        let body = #"{"name":"providers/p/trips/t","tripStatus":"\#(status)","currentRouteSegmentVersion":"v 1"}"#
        return HTTPResponse(status: 200, body: Array(body.utf8))
    }

    @Test func askUntilTheTripEnds() async throws {
        let answers = [
            Self.tripResponse(status: "NEW"), HTTPResponse(status: 401), Self.tripResponse(status: "NEW"),
            Self.tripResponse(status: "COMPLETE"),
        ]
        let asked = Locked(0)
        let transport = ScriptedTransport { _ in
            answers[
                asked.withLock { count in
                    defer { count += 1 }
                    return count
                }]
        }
        let authorization = ScriptedAuthorization()
        let clock = ManualClock()
        let follower = try Self.makeFollower(transport, authorization, clock)
        let moving = Task {
            for await sleep in clock.sleeps {
                #expect(sleep == .seconds(5))
                clock.advance(by: sleep)
            }
        }
        defer { moving.cancel() }
        var statuses: [String?] = []
        await follower.run { event in
            if case .changed(let snapshot) = event { statuses.append(snapshot.status) }
        }
        #expect(statuses == ["NEW", "COMPLETE"])
        #expect(authorization.asked == Array(repeating: AuthorizationContext(tripID: "t"), count: 4))
        #expect(authorization.discarded.map(\.value) == ["token-2"])
        #expect(
            transport.requests.map(\.url.target)
                == ["/v1/providers/p/trips/t?view=JOURNEY_SHARING_V1S"]
                + Array(
                    repeating: "/v1/providers/p/trips/t?view=JOURNEY_SHARING_V1S&currentRouteSegmentVersion=v%201",
                    count: 3))
    }

    @Test func stopAtOnceWithoutAnErrorWhenCancelled() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            guard await gate.pass() else { throw HTTPTransportError(.cancelled, "cancelled") }
            return HTTPResponse(status: 503)
        }
        let follower = try Self.makeFollower(transport, ScriptedAuthorization(), ManualClock())
        let eventCount = Locked(0)
        let following = Task { await follower.run { _ in eventCount.withLock { $0 += 1 } } }
        for await _ in gate.arrivals.prefix(1) {}
        following.cancel()
        await following.value
        #expect(eventCount.withLock { $0 } == 0)
    }
}
