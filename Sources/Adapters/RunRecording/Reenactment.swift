package import FleetEngine
package import HTTPMessages
import LinuxPlatform
package import LocationReporting
import ReportedText
package import VehicleAuthorization

/// Gives what the recording says the issuer gave, after the same time; the tokens themselves are made up.
package final class ReenactedAuthorization: VehicleAuthorization {
    private let fetches: Locked<(rest: ArraySlice<RecordedEvent>, count: Int)>
    private let clock: MonotonicClock

    package init(_ entries: [RecordingEntry], clock: MonotonicClock) {
        fetches = Locked((entries.map(\.event).filter { if case .token = $0 { true } else { false } }[...], 0))
        self.clock = clock
    }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let (fetch, number) = fetches.withLock { fetches in
            fetches.count += 1
            return (fetches.rest.popFirst(), fetches.count)
        }
        guard case .token(let error, let took, let lifetime, let reuse, let after)? = fetch else {
            throw AuthorizationError(.unavailable, "the recording holds no more tokens")
        }
        await clock.sleep(for: took.duration)
        if let error { throw AuthorizationError(error, "as recorded", retryAfter: after?.duration) }
        return AuthorizationToken(value: "recorded-\(number)", lifetime: lifetime?.duration, reuse: reuse?.duration)
    }
}

/// The draws of a recording, again in their order; 0.5 when there are no more.
package final class ReenactedChance: Sendable {
    private let draws: Locked<ArraySlice<Double>>

    /// Of `entries`, the draws for `chance`.
    package init(_ entries: [RecordingEntry], of chance: RecordedEvent.Chance) {
        let draws = entries.compactMap { entry -> Double? in
            if case .draw(chance, let value) = entry.event { value } else { nil }
        }
        self.draws = Locked(draws[...])
    }

    package func draw() -> Double { draws.withLock { $0.popFirst() } ?? 0.5 }
}

/// Answers each request as the recording says that the same one was answered, after the same time; no network is
/// needed.
///
/// Which one is the same, its order says, and its time where the run that is re-enacted sends fewer requests than the
/// recorded one did, or more: an update more or less in a request is no difference.
package final class ReenactedTransport: HTTPTransport {
    private struct Script {
        var rest: ArraySlice<Answer>
        var last: Answer?
    }

    /// How late or early a request may be; heartbeats vary by a second or so.
    private static let (late, early) = (Duration.milliseconds(250), Duration.seconds(2))

    private let script: Locked<Script>
    private let vehicle: VehicleName
    private let clock: MonotonicClock

    /// Of `entries`, the answers to updates, in the order of their requests.
    package init(_ entries: [RecordingEntry], vehicle: VehicleName, clock: MonotonicClock) {
        let answers = Dictionary(
            entries.compactMap { entry in Answer(entry).map { ($0.number, $0) } }, uniquingKeysWith: { one, _ in one })
        let updates = entries.compactMap { entry in
            if case .request(let number, .update) = entry.event { answers[number] } else { nil }
        }
        script = Locked(Script(rest: updates[...]))
        (self.vehicle, self.clock) = (vehicle, clock)
    }

    /// The answer to a request that goes out at `now`; `nil` when none is recorded.
    private func answer(at now: Duration) -> Answer? {
        script.withLock { script in
            while let head = script.rest.first, head.isDelivery, let following = script.rest.dropFirst().first,
                following.begun + Self.late < now
            {
                script.rest.removeFirst()
            }
            if let head = script.rest.first, head.begun > now + Self.early, let last = script.last, last.isDelivery {
                return last
            }
            script.last = script.rest.popFirst()
            return script.last
        }
    }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let answer = answer(at: clock.now)
        guard let answer, answer.error != .cancelled else {
            // Under way when the recording ended, or abandoned by the one who waited.
            while !Task.isCancelled { await clock.sleep(for: .seconds(3600)) }
            throw HTTPTransportError(.cancelled, "cancelled")
        }
        await clock.sleep(for: answer.took)
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
        if let error = answer.error {
            throw HTTPTransportError(error, "as recorded: \(error.rawValue)", traffic: answer.traffic)
        }
        return answer.response(by: vehicle)
    }

    /// The outcome of one request.
    private struct Answer {
        let number: RecordedNumber
        let outcome: String
        let status: Int?
        let error: HTTPTransportError.Code?
        let after: Duration?
        /// When the request went out.
        let begun: Duration
        let took: Duration
        let traffic: HTTPTraffic

        /// `nil` for an entry of something else.
        init?(_ entry: RecordingEntry) {
            guard
                case .answer(
                    let number, let outcome, let status, let error, let took, let sent, let received, let after) =
                    entry.event
            else { return nil }
            (self.number, self.outcome, self.status, self.error) = (number, outcome, status, error)
            (self.after, self.took) = (after?.duration, took.duration)
            begun = entry.at.duration - took.duration
            traffic = HTTPTraffic(bytesSent: sent.value, bytesReceived: received.value)
        }

        var isDelivery: Bool { outcome == "delivered" }

        /// One with the same outcome as the recorded one.
        func response(by vehicle: VehicleName) -> HTTPResponse {
            let status = status ?? 503
            let details = after.map { #","details":[{"retryDelay":"\#($0 / .seconds(1))s"}]"# } ?? ""
            let body =
                switch outcome {
                case "delivered": #"{"name":"\#(vehicle)"}"#
                case "intercepted": ""  // an intermediary's words
                default: #"{"error":{"code":\#(status),"message":"as recorded","status":"RECORDED"\#(details)}}"#
                }
            return HTTPResponse(status: status, body: Array(body.utf8), traffic: traffic)
        }
    }
}

/// A clock that runs faster than real time: what a recording is played in.
package struct ScaledClock: Clock {
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        package func duration(to other: Self) -> Duration { other.offset - offset }
        package static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
    }

    private let start = ContinuousClock.now
    private let factor: Double

    /// `factor` seconds pass in each.
    package init(factor: Double) { self.factor = factor }

    package var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: nil)
    }
}
