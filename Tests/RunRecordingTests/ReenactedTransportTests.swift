import FleetEngine
import HTTPMessages
import LocationReporting
import Testing
import WaypostTestSupport

@testable import RunRecording

@Suite struct ReenactedTransports {
    let clock = ManualClock()
    let vehicle: VehicleName
    let request: HTTPRequest

    init() throws {
        vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-7")
        request = HTTPRequest(.put, try HTTPURL("https://fleetengine.test/"))
    }

    struct Answer {
        let outcome: String
        var status: Int?
        var error: HTTPTransportError.Code?
        var after: RecordedNumber?
    }

    /// Requests at these milliseconds, each answered at once.
    static func entries(_ answers: [(begun: RecordedNumber, answer: Answer)]) -> [RecordingEntry] {
        answers.enumerated().flatMap { index, item in
            let number = RecordedNumber(index + 1)
            let answer = RecordedEvent.answer(
                number: number, outcome: item.answer.outcome, status: item.answer.status, error: item.answer.error,
                took: 0, sent: 0, received: 0, after: item.answer.after)
            return [
                RecordingEntry(at: item.begun, .request(number: number, purpose: .update)),
                RecordingEntry(at: item.begun, answer),
            ]
        }
    }

    static func answer(
        _ word: String, status: Int? = nil, error: HTTPTransportError.Code? = nil, after: RecordedNumber? = nil
    ) -> Answer {
        Answer(outcome: word, status: status, error: error, after: after)
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
        answer("hold", status: 404), answer("hold", error: .transportFailed), answer("rejected", status: 400),
        answer("rejected", status: 413), answer("intercepted", status: 200), answer("intercepted", status: 302),
        answer("intercepted", status: 403), answer("intercepted", error: .certificateNotTrusted),
        answer("unreachable", error: .timedOut), answer("unreachable", error: .connectionLost),
    ])
    func areJudgedAsTheRecordedOnes(answer: Answer) async {
        let transport = ReenactedTransport(
            Self.entries([(0, answer)]), vehicle: vehicle, clock: MonotonicClock(clock))
        async let outcome = outcome(of: transport)
        for await _ in clock.sleeps.prefix(1) {}
        let found = await outcome
        #expect(found.word == answer.outcome)
        switch found {
        case .retry(_, let after), .throttled(_, let after):
            #expect(after == answer.after?.duration)
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
