import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import Glibc
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndRandomness
import Operations
import WaypostTestSupport

@testable import WaypostCommand

/// `waypost watch`, run by a user at a desk.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct Watches {
    private let directory: TemporaryDirectory
    private let simulator: FleetEngineSimulator
    private let serving: Task<Void, Never>

    init() throws {
        directory = try TemporaryDirectory()
        var settings = SimulatorSettings()
        settings.trips = [SimulatedTrip(id: "trip 7", vehicleID: "van-7", lengthMeters: 1000)]
        let simulator = try FleetEngineSimulator(settings)
        self.simulator = simulator
        serving = Task { await simulator.run() }
    }

    /// Writes a configuration; `consumer` is the value of `consumerAuthorization`.
    private func configure(service: FleetService = .onDemandTrips, consumer: String?, endpoint: String? = nil) throws
        -> String
    {
        let consumer = consumer.map { "\"consumerAuthorization\": \($0)," } ?? ""
        let text = """
            {"vehicle": {"providerId": "p", "vehicleId": "van-7", "service": "\(service.rawValue)"},
             "receiver": {"type": "stdin"},
             "authorization": {"type": "http", "url": "\(simulator.tokenURL(for: service))"}, \(consumer)
             "upload": {"endpoint": "\(endpoint ?? simulator.baseURL.origin)"},
             "outbox": {"path": "\(directory.path("outbox.sqlite"))"}, "log": {"level": "error"}}
            """
        return try directory.write(text.utf8, to: "config.json")
    }

    private var consumer: String {
        #"{"type": "http", "url": "\#(simulator.consumerTokenURL)", "tokenKey": "TRIP_TOKEN_KEY"}"#
    }

    /// Reports a town drive for the configured vehicle.
    private func replayDrive(config: String) async throws {
        let log = try directory.write(Drive(.town, duration: .seconds(300)).flatMap(\.sentences), to: "drive.nmea")
        let outcome = try await BuiltProgram.run(["replay", log, "--config", config])
        try #require(outcome.ending == .exited(0))
    }

    @Test func followATripToItsEnd() async throws {
        defer { serving.cancel() }
        let config = try configure(consumer: consumer)
        let watch = try RunningProgram(
            [BuiltProgram.waypost, "watch", "--config", config, "--trip", "trip 7"],
            environment: BuiltProgram.environment)
        try #require(await watch.output.line(saying: "no position yet  vehicle van-7  NEW  250 m left") != nil)
        try await replayDrive(config: config)
        try #require(await watch.output.line(saying: "COMPLETE") != nil)
        #expect(await watch.end() == .exited(0))
        #expect(watch.output.lines.last?.text.contains("vehicle van-7  COMPLETE") == true)
        #expect(watch.errors.text.isEmpty, "\(watch.errors.text)")
        let record = await simulator.record
        #expect(record.recentTokens.filter { $0.kind == "consumer" }.map(\.id) == ["trip 7"])
    }

    @Test(arguments: FleetService.allCases) func followAVehicleUntilStopped(service: FleetService) async throws {
        defer { serving.cancel() }
        let config = try configure(service: service, consumer: nil)
        try await replayDrive(config: config)
        let watch = try RunningProgram(
            [BuiltProgram.waypost, "watch", "--config", config, "--vehicle", "van-7", "--json"],
            environment: BuiltProgram.environment)
        let line = try #require(await watch.output.line(saying: "latitude"))
        watch.signal(SIGINT)
        #expect(await watch.end() == .exited(128 + SIGINT))
        let snapshot = try JSONValue(parsing: Array(line.text.utf8))
        let age = try #require(snapshot["ageSeconds"]?.doubleValue)
        #expect((0..<60).contains(age))
        #expect(snapshot["time"]?.stringValue != nil)
        #expect(snapshot["status"]?.stringValue == (service == .onDemandTrips ? "ONLINE" : nil))
    }

    @Test func reportAProblemAndContinue() async throws {
        defer { serving.cancel() }
        let config = try configure(consumer: consumer)
        let watch = try RunningProgram(
            [BuiltProgram.waypost, "watch", "--config", config, "--trip", "other"],
            environment: BuiltProgram.environment)
        let line = try #require(await watch.errors.line(saying: "404 NOT_FOUND"))
        #expect(line.text.contains("providers/p/trips/other; correct the id"))
        #expect(await watch.terminate().ending == .exited(128 + SIGTERM))
    }

    /// A server that tries to control the user's terminal.
    @Test func printNoControlSequences() async throws {
        defer { serving.cancel() }
        let asked = Locked(0)
        let server = try HTTPService(listeningOn: LocalAddress("127.0.0.1:0"), limits: HTTPServiceLimits()) { _ in
            let evil = #"a\nb\u001B[31m\u009B2J\u202Ec\r<0>d"#
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            return isFirst
                ? ServedResponse(
                    status: 404, contentType: "application/json",
                    #"{"error":{"code":404,"status":"\#(evil)","message":"\#(evil)"}}"#)
                : ServedResponse(
                    status: 200, contentType: "application/json",
                    #"{"name":"providers/p/vehicles/van-7","vehicleState":"\#(evil)","vehicleId":"\#(evil)"}"#)
        }
        let running = Task { await server.run() }
        defer { running.cancel() }
        for expectsTrouble in [true, false] {
            let config = try configure(consumer: nil, endpoint: "http://\(server.address)")
            let watch = try RunningProgram(
                [BuiltProgram.waypost, "watch", "--config", config, "--vehicle", "van-7"],
                environment: BuiltProgram.environment)
            let lines = expectsTrouble ? watch.errors : watch.output
            let line = try #require(await lines.line(saying: "<0>d"))
            #expect(line.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
            #expect(!line.text.contains("\u{202E}"))
            _ = await watch.terminate()
        }
    }

    @Test(arguments: [
        (["--trip", "t"], Int32(78), "has no \"consumerAuthorization\""), (["--vehicle", "a/b"], 78, "contains \"/\""),
        ([], 64, "needs --trip ID or --vehicle ID"), (["--trip", "t", "--vehicle", "v"], 64, "not both"),
    ])
    func rejectTargetsThatCannotBeFollowed(arguments: [String], code: Int32, message: String) async throws {
        defer { serving.cancel() }
        let outcome = try await BuiltProgram.run(["watch", "--config", try configure(consumer: nil)] + arguments)
        #expect(outcome.ending == .exited(code))
        let errorText = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(errorText.contains(message), "\(errorText)")
    }

    @Test func rejectTripsOfScheduledTasks() throws {
        defer { serving.cancel() }
        let configuration = try Configuration(
            file: try configure(service: .scheduledTasks, consumer: consumer))
        let error = #expect(throws: AgentError.self) { try Follower(configuration, .trip("t")) }
        #expect(error?.description.contains("has no trips; follow a vehicle") == true)
    }
}

@Suite struct SnapshotLines {
    @Test func showTheKnownValues() {
        var snapshot = FollowedSnapshot()
        let now = UTCTime(millisecondsSince1970: 1_767_608_130_000)
        #expect(SnapshotLine(snapshot, now: now).text == "10:15:30  no position yet")
        #expect(SnapshotLine(snapshot, now: now).json == #"{"readAt":"2026-01-05T10:15:30.000Z"}"#)
        var position = FollowedSnapshot.Position(latitude: 53.5500118, longitude: -0.0000334)
        snapshot.position = position
        #expect(SnapshotLine(snapshot, now: now).text == "10:15:30  53.550012, -0.000033  of unknown age")
        position.timeOfFixMillisecondsSince1970 = now.millisecondsSince1970 - 2400
        (position.accuracyMeters, position.headingDegrees, position.speedMetersPerSecond) = (4.4, 271, 8.25)
        (snapshot.position, snapshot.status, snapshot.vehicleID) = (position, "ENROUTE_TO_PICKUP", "van-7")
        (snapshot.remainingDistanceMeters, snapshot.remainingSeconds) = (1240, 90)
        #expect(
            SnapshotLine(snapshot, now: now).text
                == "10:15:30  53.550012, -0.000033 ±4 m  8.3 m/s  271°  2 s old  vehicle van-7  ENROUTE_TO_PICKUP  "
                + "1240 m left  arrives 10:17:00")
        #expect(
            SnapshotLine(snapshot, now: now).json.hasPrefix(
                #"{"accuracyMeters":4.4,"ageSeconds":2.4,"arrival":"2026-01-05T10:17:00.000Z","headingDegrees":271,"#))
    }

    @Test func tolerateImpossibleValues() {
        var snapshot = FollowedSnapshot()
        snapshot.position = FollowedSnapshot.Position(latitude: 1e300, longitude: 0)
        snapshot.position?.speedMetersPerSecond = -1e200
        snapshot.remainingSeconds = -1e300
        #expect(SnapshotLine(snapshot, now: UTCTime(year: 2026, month: 1, day: 5)).text.contains("1e+300"))
    }
}
