import FleetEngine
import HTTPMessages
import LocationReporting
import Testing
import WaypostTestSupport

@testable import Waypost

@Suite struct ReenactedAnswers {
    let clock = ManualClock()
    let vehicle: VehicleName
    let request: HTTPRequest

    init() throws {
        vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-7")
        request = HTTPRequest(.put, try HTTPURL("https://fleetengine.test/"))
    }

    /// Requests at these milliseconds, each answered at once.
    static func entries(_ answers: [(begun: Int, answer: FlightEntry)]) -> [FlightEntry] {
        answers.enumerated().flatMap { index, item in
            var answer = item.answer.with(\.number, index + 1).with(\.took, 0)
            answer.at = item.begun
            return [FlightEntry(at: item.begun).with(\.request, "update").with(\.number, index + 1), answer]
        }
    }

    static func answer(_ word: String, status: Int? = nil, error: String? = nil, after: Int? = nil) -> FlightEntry {
        FlightEntry(at: 0).with(\.answer, word).with(\.status, status).with(\.error, error).with(\.after, after)
    }

    func outcome(of transport: ReenactedTransport) async -> UploadOutcome {
        do throws(HTTPTransportError) {
            return UploadOutcome(of: try await transport.send(request), to: request, for: vehicle)
        } catch {
            return UploadOutcome(of: error)
        }
    }

    /// Every kind of outcome is judged again as it was.
    @Test(arguments: [
        answer("delivered", status: 200), answer("tokenRefused", status: 401), answer("tokenRefused", status: 403),
        answer("retry", status: 503, after: 2500), answer("retry", status: 500), answer("retry", status: 410),
        answer("throttled", status: 429, after: 7000), answer("throttled", status: 429),
        answer("hold", status: 404), answer("hold", error: "transportFailed"), answer("rejected", status: 400),
        answer("rejected", status: 413), answer("intercepted", status: 200), answer("intercepted", status: 302),
        answer("intercepted", status: 403), answer("intercepted", error: "certificateNotTrusted"),
        answer("unreachable", error: "timedOut"), answer("unreachable", error: "connectionLost"),
    ])
    func areJudgedAsTheRecordedOnes(answer: FlightEntry) async {
        let transport = ReenactedTransport(
            Self.entries([(0, answer)]), vehicle: vehicle, clock: MonotonicClock(clock))
        async let outcome = outcome(of: transport)
        for await _ in clock.sleeps.prefix(1) {}
        let found = await outcome
        #expect(found.word == answer.answer)
        switch found {
        case .retry(_, let after), .throttled(_, let after):
            #expect(after == answer.after.map { .milliseconds($0) })
        default: break
        }
    }

    /// Fewer requests than recorded leave successes out, more repeat one; a failure is never left out.
    @Test(arguments: [
        ([0, 60_000, 120_000], ["delivered", "delivered", "retry"]),
        ([0, 130_000, 140_000], ["delivered", "retry", "delivered"]),
        ([0, 20_000, 60_000, 120_000], ["delivered", "delivered", "delivered", "retry"]),
    ])
    func keepStepWithTheRun(moments: [Int], words: [String]) async {
        let entries = Self.entries([
            (0, Self.answer("delivered", status: 200)), (60_000, Self.answer("delivered", status: 200)),
            (120_000, Self.answer("retry", status: 503)), (125_000, Self.answer("delivered", status: 200)),
        ])
        let transport = ReenactedTransport(entries, vehicle: vehicle, clock: MonotonicClock(clock))
        var passed = 0
        var found: [String] = []
        var sleeps = clock.sleeps.makeAsyncIterator()
        for moment in moments {
            clock.advance(by: .milliseconds(moment - passed))
            passed = moment
            async let outcome = outcome(of: transport)
            _ = await sleeps.next()
            found.append(await outcome.word)
        }
        #expect(found == words)
    }
}
