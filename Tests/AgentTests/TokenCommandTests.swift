import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import LinuxPlatform
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// `waypost token` with the simulator as its issuer.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct TokenCommands {
    @Test func showEverythingExceptTheSignature() async throws {
        let bench = try ServiceBench()
        let (page, _) = try await run(["token"], config: try bench.configure(), exit: 0)
        let times = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/
        let numbers = /(iat|exp) \d+/
        let lines = page.replacing(times, with: "TIME").replacing(numbers) { "\($0.output.1) N" }
            .split(separator: "\n").map(String.init)
        let origin = bench.simulator.baseURL.origin
        #expect(
            lines == [
                "from     token endpoint \(origin)/token/driver/van-7", "role     driver of vehicle van-7",
                lines[2].hasSuffix("1 s ago") ? "issued   TIME, 1 s ago" : "issued   TIME, 0 s ago",
                "expires  TIME, 60 min from now",
                "life     60 min left",
                "stated   \"TOKEN_EXPIRATION\" agrees with exp", "clocks   this host and the issuer agree",
                "header   alg RS256", "         kid simulator-1", "         typ JWT",
                "claim    aud https://fleetengine.googleapis.com/", "         authorization.vehicleid van-7",
                "         exp N", "         iat N", "         iss driver@simulator.iam.gserviceaccount.com",
                "         sub driver@simulator.iam.gserviceaccount.com", "signed   256 bytes, not shown",
                "ok       fits providers/p/vehicles/van-7",
            ])
        #expect(!page.contains("eyJ"))
    }

    @Test(arguments: TokenAnswerShape.allCases) func readEachKnownShape(shape: TokenAnswerShape) async throws {
        var settings = SimulatorSettings()
        settings.tokenShape = shape
        let simulator = try FleetEngineSimulator(settings)
        let serving = Task { await simulator.run() }
        defer { serving.cancel() }
        let directory = try TemporaryDirectory()
        let url = simulator.tokenURL(for: .onDemandTrips)
        let config = try ServiceSetup(
            authorization: #"{"type": "http", "url": "\#(url)", "tokenShape": "\#(shape.rawValue)"}"#
        ).write(in: directory)
        let (page, _) = try await run(["token"], config: config, exit: 0)
        #expect(page.firstMatch(of: /stated   "\w+" agrees with exp\n/) != nil, "\(page)")
    }

    /// The path of an endpoint that returns a wrong token, and the last line of the report.
    @Test(arguments: [
        (
            "driver/van-8",
            "FAIL     the token for vehicle van-7 is for vehicle van-8; correct vehicle.vehicleId, or let the issuer sign for van-7"
        ),
        (
            "delivery_driver/van-7",
            "FAIL     the token for vehicle van-7 is for delivery vehicles, but vehicle.service is onDemandTrips; "
                + "correct vehicle.service, or change the issuer to set vehicleid"
        ),
        (
            "consumer/t",
            "FAIL     the token for vehicle van-7 names no vehicle (it may be a consumer token); "
                + "the issuer must set vehicleid"
        ),
    ])
    func failIfTheTokenIsNotForTheVehicle(subject: String, message: String) async throws {
        let bench = try ServiceBench()
        let config = try bench.configure {
            $0.authorization = """
                {"type": "http", "url": "\(bench.simulator.baseURL.origin)/token/\(subject)",
                 "tokenKey": "\(subject.hasPrefix("consumer") ? "TRIP" : "VEHICLE")_TOKEN_KEY"}
                """
        }
        let (page, _) = try await run(["token"], config: config, exit: 1)
        #expect(page.hasSuffix("\n\(message)\n"), "\(page)")
        let (token, errors) = try await run(["token", "--raw"], config: config, exit: 1)
        #expect(token.split(separator: ".").count == 3)
        #expect(errors == "waypost: \(message.dropFirst(9))\n")
    }

    /// An endpoint for consumer tokens, the exit code, and the start and end of the last line.
    @Test(arguments: [
        ("consumer/{tripId}", 0 as Int32, "ok       fits", "providers/p/trips/trip 7"),
        (
            "consumer/other", 1, "FAIL     the token ",
            "is for trip other; correct the id, or let the issuer sign for trip 7"
        ),
        (
            "driver/van-7", 1, "FAIL     the token ",
            "names no trip (it may be a driver token); the issuer must set tripid"
        ),
    ])
    func fetchAConsumerTokenForATrip(subject: String, exit: Int32, begins: String, ends: String) async throws {
        let bench = try ServiceBench()
        let config = try bench.configure {
            $0.consumerAuthorization = """
                {"type": "http", "url": "\(bench.simulator.baseURL.origin)/token/\(subject)",
                 "tokenKey": "\(subject.hasPrefix("consumer") ? "TRIP" : "VEHICLE")_TOKEN_KEY"}
                """
        }
        let (page, _) = try await run(["token", "--trip", "trip 7"], config: config, exit: exit)
        let last = page.split(separator: "\n").last
        #expect(last?.hasPrefix(begins) == true && last?.hasSuffix(ends) == true, "\(page)")
        if exit == 0 { #expect(page.contains("\nrole     consumer of trip trip 7\n")) }
        // The driver's token is unchanged.
        #expect(try await run(["token"], config: config, exit: 0).output.hasSuffix("fits providers/p/vehicles/van-7\n"))
    }

    @Test func requireAProviderOfTripTokens() async throws {
        let bench = try ServiceBench()
        let (_, errors) = try await run(["token", "--trip", "t"], config: try bench.configure(), exit: 78)
        #expect(errors.contains("has no \"consumerAuthorization\""))
    }

    /// The claim has thousands of characters and contains a token.
    @Test func shortenALongClaimInAnError() async throws {
        let directory = try TemporaryDirectory()
        let inner = TestTokens.driver(vehicleID: "van-7")
        let token = TestTokens.token(
            payload:
                #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600,"#
                + #""authorization":{"vehicleid":"\#(inner) \#(String(repeating: "van ", count: 1000))"}}"#)
        let path = try directory.write(token.utf8, to: "token", mode: 0o600)
        let config = try ServiceSetup(authorization: #"{"type": "file", "path": "\#(path)"}"#).write(in: directory)
        let (_, errors) = try await run(["token", "--raw"], config: config, exit: 1)
        #expect(errors.utf8.count < 600 && !errors.contains(inner.prefix(12)), "\(errors)")
    }

    @Test func printNoControlSequences() async throws {
        let directory = try TemporaryDirectory()
        let token = TestTokens.token(
            payload:
                #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","note":"\u001B[2J\u202E","inner":"eyJhbGciOiJub25lIn0.e.e","#
                + #""iat":1000000000,"exp":1000003600,"authorization":{"vehicleid":"a\u0007b"}}"#)
        let path = try directory.write(token.utf8, to: "token", mode: 0o600)
        let config = try ServiceSetup(authorization: #"{"type": "file", "path": "\#(path)"}"#).write(in: directory)
        let (page, _) = try await run(["token"], config: config, exit: 1)
        #expect(page.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E || $0 == "\n" }, "\(page)")
        #expect(page.contains("         inner …\n"))
        #expect(page.contains("role     driver of vehicle a\u{FFFD}b\n"))
    }

    @Test(arguments: [
        (#""iat":1e300,"exp":"inf""#, "issued   1e+300, which isn't a time in seconds since 1970\n"),
        (#""iat":"-inf","exp":1e300"#, "expires  1e+300, which isn't a time in seconds since 1970\n"),
        (
            #""iat":"nan","exp":-1e300,"nbf":"inf""#,
            "the token for vehicle van-7 has the iat nan, which isn't a time; the"
        ),
    ])
    func tolerateInvalidTimes(times: String, message: String) async throws {
        let directory = try TemporaryDirectory()
        let token = TestTokens.token(
            payload:
                #"{"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/",\#(times),"authorization":{"vehicleid":"van-7"}}"#
        )
        let path = try directory.write(token.utf8, to: "token", mode: 0o600)
        let config = try ServiceSetup(authorization: #"{"type": "file", "path": "\#(path)"}"#).write(in: directory)
        let (page, _) = try await run(["token"], config: config, exit: 0)
        #expect(page.contains(message), "\(page)")
    }

    @Test func warnAboutAServerToken() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure { $0.tokenURL = "\(bench.simulator.baseURL.origin)/token/server" }
        let (page, _) = try await run(["token"], config: config, exit: 0)
        #expect(page.contains("\nrole     server, for every id\n"))
        #expect(page.contains("\nnote     the token for vehicle van-7 is a server token, valid for every vehicle; "))
    }

    @Test func printTheTokenItselfOnlyToAProgram() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure()
        let (token, errors) = try await run(["token", "--raw"], config: config, exit: 0)
        #expect(token.firstMatch(of: /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{342}\n$/) != nil && errors.isEmpty)

        let terminal = try PseudoTerminal()
        let command = "exec \"$0\" token --config \"$1\" --raw $2 >\(terminal.path)"
        func runOnTerminal(_ option: String) async throws -> ChildProcess.Outcome {
            try await ChildProcess(
                arguments: ["/bin/sh", "-c", command, BuiltProgram.waypost, config, option],
                environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
            ).run()
        }
        let refused = try await runOnTerminal("")
        #expect(refused.ending == .exited(64))
        #expect(
            String(decoding: refused.standardError, as: UTF8.self).hasPrefix(
                "waypost: token --raw would show the token on this terminal; pipe or redirect it (| or >), or add --force\n"
            ))
        let forced = try await runOnTerminal("--force")
        #expect(forced.ending == .exited(0))
        _ = try await run(["token", "--force"], config: config, exit: 64)
    }

    @Test(arguments: [
        (#"{"type": "file", "path": "/nonexistent/token"}"#, 78 as Int32),
        (#"{"type": "command", "command": ["/nonexistent/program"]}"#, 78),
        (#"{"type": "command", "command": ["/bin/false"]}"#, 69),
        (#"{"type": "http", "url": "http://127.0.0.1:1/"}"#, 69),
        (#"{"type": "http"}"#, 78),
    ])
    func explainAFailureInOneLine(authorization: String, exit: Int32) async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(authorization: authorization).write(in: directory)
        let (page, errors) = try await run(["token"], config: config, exit: exit)
        #expect(page.isEmpty)
        #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    }

    /// A file name before a quoted key looks like the name of a secret.
    @Test func nameAKeyThatIsNotAnExpiry() async throws {
        let directory = try TemporaryDirectory()
        let token = TestTokens.driver(vehicleID: "van-7", issuedAt: Int(Date().timeIntervalSince1970))
        let answer = #"{"VEHICLE_TOKEN_KEY":"\#(token)","TOKEN_EXPIRATION":"tomorrow"}"#
        let path = try directory.write(answer.utf8, to: "van-7.jwt", mode: 0o600)
        let config = try ServiceSetup(authorization: #"{"type": "file", "path": "\#(path)"}"#).write(in: directory)
        let (page, _) = try await run(["token"], config: config, exit: 0)
        #expect(page.contains(#"van-7.jwt: the value of "TOKEN_EXPIRATION" ("tomorrow") isn't an expiry; "#), "\(page)")
    }

    /// An unsynchronised clock doesn't expire a token, because it may be years ahead.
    @Test func judgeExpiryOnlyByASynchronizedClock() async throws {
        let directory = try TemporaryDirectory()
        let token = TestTokens.driver(vehicleID: "van-7", issuedAt: Int(Date().timeIntervalSince1970) - 7200)
        let path = try directory.write(token.utf8, to: "token", mode: 0o600)
        let config = try ServiceSetup(authorization: #"{"type": "file", "path": "\#(path)"}"#).write(in: directory)
        let isSynchronized = UTCTime.synchronizedSystem != nil
        let (page, _) = try await run(["token"], config: config, exit: isSynchronized ? 1 : 0)
        let words =
            isSynchronized
            ? " by this host's clock, which is synchronised; " : ", if it is this host's clock that is wrong\n"
        #expect(page.contains(words), "\(page)")
    }

    @Test func driverTokensAreSummarisedInOneLineByTheOnlineCheck() async throws {
        let bench = try ServiceBench()
        func line(_ url: String) async throws -> String? {
            let config = try bench.configure {
                $0.receiver = #"{"type": "stdin"}"#
                $0.tokenURL = bench.simulator.baseURL.origin + url
            }
            let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
            #expect(outcome.ending == .exited(69))  // standard input is empty
            return String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n")
                .first { $0.contains("  token  ") }.map(String.init)
        }
        let good = try await line("/token/driver/van-7")
        #expect(good?.firstMatch(of: /^ok    token          driver of vehicle van-7, (59|60) min left$/) != nil)
        #expect(
            try await line("/token/driver/other")
                == "FAIL  token          the token for vehicle van-7 is for vehicle other; correct vehicle.vehicleId, or let the issuer sign for van-7"
        )
    }

    /// The backend's OAuth server accepts a refresh token once.
    @Test func spentRefreshTokensAreReportedByTheOnlineCheck() async throws {
        let body = #"{"error": "invalid_grant"}"#
        let server = try RawServer(
            answering: ["HTTP/1.1 400 Bad Request\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"])
        let bench = try ServiceBench()
        let config = try bench.configure {
            $0.receiver = #"{"type": "stdin"}"#
            $0.tokenURL = "http://\(server.authority)/token"
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        let lines = String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
        let words =
            "FAIL  token          token endpoint http://\(server.authority)/token answered 400: the grant has already been "
            + "used or has expired; it says \"invalid_grant\"; give the vehicle a reusable grant: the service, waypost "
            + "check and waypost token each consume a single-use refresh token"
        #expect(lines.contains(words), "\(lines)")
    }

    /// Backends that return a token for any trip, only for a known trip, and for another trip.
    @Test(arguments: [
        ("/token/consumer/{tripId}", "ok    trip token     ", "consumer of trip waypost-check, "),
        ("/nowhere/{tripId}", "note  trip token     ", "try an existing trip: waypost token --trip ID"),
        (
            "/token/consumer/other", "FAIL  trip token     ",
            "is for trip other; correct the id, or let the issuer sign for waypost-check"
        ),
    ])
    func tripTokensAreSummarisedInOneLineByTheOnlineCheck(path: String, begins: String, message: String) async throws {
        let bench = try ServiceBench()
        let config = try bench.configure {
            $0.receiver = #"{"type": "stdin"}"#
            $0.consumerAuthorization = """
                {"type": "http", "url": "\(bench.simulator.baseURL.origin)\(path)", "tokenKey": "TRIP_TOKEN_KEY"}
                """
        }
        let outcome = try await BuiltProgram.run(["check", "--online", "--config", config])
        let line = String(decoding: outcome.standardOutput, as: UTF8.self).split(separator: "\n")
            .first { $0.contains("  trip token  ") }
        #expect(line?.hasPrefix(begins) == true && line?.contains(message) == true, "\(line ?? "")")
    }

    private func run(
        _ arguments: [String], config: String, exit: Int32
    ) async throws -> (output: String, errors: String) {
        let outcome = try await BuiltProgram.run(arguments + ["--config", config])
        let errors = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(outcome.ending == .exited(exit), "\(errors)")
        return (String(decoding: outcome.standardOutput, as: UTF8.self), errors)
    }
}
