import HTTPMessages
import HTTPService
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

@testable import FleetEngineSimulator

@Suite struct FaultOption {
    @Test(arguments: [
        ("--errors", "503:0.3,401:0.05", ["30.0 % of answers have status 503", "5.0 % of answers have status 401"]),
        ("--resets", "0.05", ["5.0 % of requests reset"]),
        ("--drops", "0.05", ["5.0 % of answers dropped after the commit"]),
        ("--stalls", "1", ["100.0 % of answers stalled"]), ("--delay", "0.5", ["answers delayed by 0.5 s"]),
        ("--delay", "0.1..2", ["answers delayed by 0.1 to 2.0 s"]), ("--retry-after", "5", ["Retry-After: 5"]),
        ("--retry-info", "5", ["RetryInfo of 5 s"]), ("--token-outage", "3", ["the first 3 token requests fail"]),
        ("--token-outage", "10..20", ["no tokens from 10.0 to 20.0 s"]),
        ("--token-life", "400", ["tokens expire after 400 s"]),
        (
            "--token-errors", "503:0.1,page:0.05",
            ["10.0 % of token answers have status 503", "5.0 % of token answers are a login page"]
        ),
        ("--token-delay", "2", ["token answers delayed by 2.0 s"]),
        ("--token-expiry", "secondsFromNow", ["token expiry as secondsFromNow"]),
        ("--token-clock", "-700", ["issuer's clock off by -700 s"]), ("--key-rotation", "60", ["new key at 60.0 s"]),
        ("--past-limit", "5", ["more than 5 past locations rejected"]),
        ("--outage", "30..90", ["outage from 30.0 to 90.0 s"]), ("--resets", "0", []),
    ])
    func isParsed(option: String, value: String, descriptions: [String]) throws {
        var plan = FaultPlan()
        try plan.set(option, value)
        #expect(plan.descriptions == descriptions)
        #expect(FaultPlan.options.contains { $0.name == option })
    }

    @Test(arguments: [
        ("--errors", "503", "must have the form STATUS:RATE"),
        ("--errors", "503:0.3,", "must have the form STATUS:RATE"),
        ("--errors", "200:0.3", "must have the form STATUS:RATE"),
        ("--errors", "503:2", "use a rate from 0 to 1"),
        ("--errors", "503:x", "use a rate from 0"), ("--resets", "-0.1", "use a rate from 0"),
        ("--drops", "nan", "use a rate from 0"),
        ("--delay", "2..1", "the range ends before it begins; write 1..2"),
        ("--outage", "40..30", "the range ends before it begins; write 30..40"),
        ("--delay", "500ms", "the value is in seconds, without a unit; write 0.5"),
        ("--delay", "2s", "the value is in seconds, without a unit; write 2.0"), ("--delay", "nans", "write a range"),
        ("--delay", "x", "write a range of seconds"),
        ("--outage", "5", "write a range of seconds"), ("--token-life", "3601", "whole number from 1 to 3600"),
        ("--token-life", "0", "whole number from 1 to 3600"), ("--retry-after", "-1", "whole number"),
        ("--token-outage", "a..b", "write a range of seconds such as 10..30, or a COUNT of token requests such as 3"),
        ("--token-outage", "-1", "use a whole number from 0"),
        (
            "--token-errors", "late:1",
            "must have the form FAULT:RATE, such as 503:0.3 or page:0.1, where FAULT is 400 to 599, page"
        ),
        ("--token-errors", "page:0.6,empty:0.6", "add up to more than 1"),
        ("--token-expiry", "soon", "use one of epochSeconds"),
        ("--token-clock", "fast", "whole number"), ("--key-rotation", "x", "use a number of seconds"),
        ("--key-rotation", "5..10", "use a number of seconds"),
        ("--key-rotation", "60s", "without a unit; write 60.0"),
        ("--flood", "1", "is not a fault option; use one of --errors"),
    ])
    func isRejected(option: String, value: String, message: String) {
        var plan = FaultPlan()
        let error = #expect(throws: FaultPlan.OptionError.self) { try plan.set(option, value) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(plan == FaultPlan())
    }

    @Test func isRejectedIfTheRatesExceedOne() throws {
        var plan = FaultPlan()
        try plan.set("--errors", "503:0.9")
        #expect(throws: FaultPlan.OptionError.self) { try plan.set("--resets", "0.2") }
        #expect(plan.rateSum == 0.9)
    }

    @Test(arguments: [
        (0.0, Fault.error(status: 503)), (0.29, .error(status: 503)), (0.31, .error(status: 401)), (0.36, .reset),
        (0.41, .drop), (0.46, .stall), (0.51, .none), (0.999, .none),
    ])
    func selectsTheFaultByARandomNumber(draw: Double, fault: Fault) throws {
        var plan = FaultPlan()
        for (option, value) in [
            ("--errors", "503:0.3,401:0.05"), ("--resets", "0.05"), ("--drops", "0.05"), ("--stalls", "0.05"),
        ] {
            try plan.set(option, value)
        }
        #expect(plan.fault(draw: draw) == fault)
    }
}

@Suite struct InjectedFault {
    private static let body =
        "{\"lastLocation\":{\"location\":{\"latitude\":1,\"longitude\":1},\"updateTime\":\"2026-01-05T10:15:30Z\"}}"

    @Test(arguments: [
        ("--resets", ServedResponse.Delivery.reset(afterBytes: 0), 0, "reset"), ("--drops", .drop, 1, "drop"),
        ("--stalls", .stall(afterBytes: 24), 1, "stall"),
    ])
    func losesTheAnswer(option: String, delivery: ServedResponse.Delivery, committed: Int, outcome: String) async throws
    {
        let backend = try SimulatedBackend { try $0.faults.set(option, "1") }
        let token = try await backend.token("driver/van")
        var headers = HTTPHeaders(["Content-Type": "application/json"])
        headers["Authorization"] = "Bearer \(token)"
        let served = await backend.engine.respond(
            to: ServedRequest(
                .put, "/v1/providers/p/vehicles/van?updateMask=lastLocation", headers: headers,
                body: Array(Self.body.utf8)))
        #expect(served.delivery == delivery)
        let record = await backend.engine.record
        #expect(record.vehicles.values.reduce(0) { $0 + $1.updates } == committed)
        #expect(record.fleetOutcomes == [outcome: 1])
    }

    @Test(
        arguments: [
            ("503:1", "--retry-after", 503, "UNAVAILABLE", "7", false),
            ("429:1", "--retry-info", 429, "RESOURCE_EXHAUSTED", nil, true),
            ("500:1", "--retry-after", 500, "INTERNAL", nil, false),
            ("504:1", "--retry-info", 504, "DEADLINE_EXCEEDED", nil, false),
            ("401:1", "--retry-info", 401, "UNAUTHENTICATED", nil, false),
        ] as [(String, String, Int, String, String?, Bool)])
    func answersWithAnErrorAndItsRetryAdvice(
        errors: String, advice: String, status: Int, name: String, header: String?, hasDetail: Bool
    ) async throws {
        let backend = try SimulatedBackend {
            try $0.faults.set("--errors", errors)
            try $0.faults.set(advice, "7")
        }
        let answer = try await backend.sendUpdate(Self.body)
        #expect(answer.status == status)
        #expect(answer.json.errorStatus == name)
        #expect(answer.served.response.headers["Retry-After"] == header)
        #expect((answer.json["error"]?["details"]?[0]?["retryDelay"]?.stringValue == "7s") == hasDetail)
        #expect(await backend.engine.record.vehicles.isEmpty, "nothing was committed")
    }

    @Test func rejectsTooManyPastLocations() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--past-limit", "1") }
        func status(_ count: Int) async throws -> Int {
            let past = Array(repeating: "{}", count: count).joined(separator: ",")
            return try await backend.sendUpdate("{\"pastLocations\":[\(past)]}", mask: "pastLocations").status
        }
        #expect(try await status(1) == 200)
        #expect(try await status(2) == 400)
    }

    @Test func delaysTheAnswer() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--delay", "0.1..2") }
        for _ in 0..<20 {
            let delay = try await backend.sendUpdate(Self.body).served.delay
            #expect((Duration.milliseconds(100)...Duration.seconds(2)).contains(delay))
        }
    }

    @Test func resetsEverythingButThePageInAnOutage() async throws {
        let backend = try SimulatedBackend { try $0.faults.set("--outage", "30..90") }
        backend.advance(by: 40)
        #expect(
            await backend.engine.respond(to: ServedRequest(.get, "/token/server")).delivery == .reset(afterBytes: 0))
        #expect(await backend.engine.respond(to: ServedRequest(.get, "/record.json")).delivery == .whole)
        backend.advance(by: 60)
        #expect(await backend.engine.respond(to: ServedRequest(.get, "/token/server")).delivery == .whole)
        await backend.engine.setOutage(true)
        #expect(await backend.engine.respond(to: ServedRequest(.get, "/v1/x")).delivery == .reset(afterBytes: 0))
        await backend.engine.setOutage(false)
        #expect(await backend.engine.respond(to: ServedRequest(.get, "/token/server")).delivery == .whole)
    }
}
