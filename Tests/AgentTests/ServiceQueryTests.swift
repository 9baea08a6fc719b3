import Conditions
import FoundationEssentials
import Glibc
import LinuxPlatform
import StrictJSON
import Testing
import TimeAndRandomness
import Operations
import WaypostTestSupport

/// `waypost status` and `waypost why`, with a running service and without one.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ServiceQueries {
    static func statusSocketEdit(for bench: ServiceBench) -> (inout ServiceSetup) -> Void {
        let address = "unix:" + bench.directory.path("status")
        return { $0.status = address }
    }

    @Test func describeTheRunningService() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try bench.start(Self.statusSocketEdit(for: bench))
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let drive = Array(RecentDrive(epochs: 2))
        for epoch in drive {
            try receiver.send(epoch)
            try #require(await bench.arrival(of: epoch) != nil)
        }
        await service.errors.line(saying: "delivered 1 update in", times: 2)
        let config = bench.directory.path("config.json")
        let why = try await BuiltProgram.run(["why", "--config", config])
        #expect(String(decoding: why.standardOutput, as: UTF8.self).hasPrefix("All is well\nThe last delivery was "))
        #expect(why.ending == .exited(0))
        let whyJSON = try await BuiltProgram.run(["why", "--json", "--config", config])
        let verdict = try JSONValue(parsing: whyJSON.standardOutput)
        #expect(verdict["well"]?.boolValue == true && verdict["conditions"]?.arrayValue?.isEmpty == true)
        #expect(verdict["vehicle"]?.stringValue == "providers/p/vehicles/van-7" && whyJSON.ending == .exited(0))
        // The receiver must not fall silent, however long these commands take.
        try receiver.send(drive[1])
        let page = try await BuiltProgram.run(["status", "--config", config])
        let text = String(decoding: page.standardOutput, as: UTF8.self)
        #expect(text.contains("providers/p/vehicles/van-7") && text.contains("accepted 2 = delivered 2"))
        #expect(page.ending == .exited(0))
        try receiver.send(drive[1])
        let json = try await BuiltProgram.run(["status", "--json", "--config", config])
        let status = try JSONValue(parsing: json.standardOutput)
        #expect(status["ledger"]?["delivered"]?.integerValue == 2 && json.ending == .exited(0))

        receiver.unplug()
        try #require(await service.errors.line(saying: "Waypost reconnects") != nil)
        for words in [["why"], ["why", "--json"], ["status"], ["status", "--json"]] {
            let outcome = try await BuiltProgram.run(words + ["--config", config])
            #expect(outcome.ending == .exited(1), "\(words)")
            // By then, a delivery may have failed.
            let said = String(decoding: outcome.standardOutput, as: UTF8.self)
            #expect(said.contains("Waypost reconnects") || said.contains("no such device"), "\(said)")
        }
        #expect(await service.terminate().ending == .exited(0))

        let silent = try await BuiltProgram.run(["why", "--config", config])
        #expect(silent.ending == .exited(69))
        let words = String(decoding: silent.standardError, as: UTF8.self)
        #expect(words.contains("the service is not running") && words.contains("systemctl status waypost"))
    }

    /// The configuration itself, the program that requests the token, and the directory of that program's key.
    @Test(arguments: [
        ("config.json", "configuration: DIRECTORY/config.json can be changed by every user", "on it"),
        ("program", "authorization.command: DIRECTORY/program can be changed by every user", "on it"),
        (
            "keys",
            "authorization.environment.K: DIRECTORY/keys/key can be replaced: the directory DIRECTORY/keys may be "
                + "written by every user, who could replace a file with a symbolic link",
            "on it, or choose another directory"
        ),
    ])
    func warnIfOthersCanChangeTheConfiguration(name: String, cause: String, place: String) async throws {
        let bench = try ServiceBench()
        let program = try bench.directory.write("#!/bin/sh\n".utf8, to: "program", mode: 0o755)
        try FileSystem.createDirectory(at: bench.directory.path("keys"))
        let key = try bench.directory.write("key".utf8, to: "keys/key", mode: 0o600)
        let config = try bench.configure {
            Self.statusSocketEdit(for: bench)(&$0)
            $0.authorization =
                #"{"type": "command", "command": ["\#(program)"], "environment": {"K": {"file": "\#(key)"}}}"#
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: bench.directory.path(name))
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        let words = cause.replacing("DIRECTORY", with: bench.directory.url.path)
        #expect(
            await service.errors.line(
                saying: "configuration can be changed by others: \(words); run chmod go-w \(place)") != nil)
        let why = try await BuiltProgram.run(["why", "--config", config])
        let said = String(decoding: why.standardOutput, as: UTF8.self)
        #expect(said.contains("\n\(words)\nRun chmod go-w \(place).\n"), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The service keeps its loaded configuration after the file has become unusable.
    @Test(arguments: [
        "{\"status\": {\"listen\": \"ADDRESS\"", "{\"status\": {\"listen\": \"ADDRESS\"}, \"recevier\": 1}",
    ])
    func askAServiceWhoseFileIsBroken(text: String) async throws {
        let bench = try ServiceBench()
        let service = try bench.start(Self.statusSocketEdit(for: bench))
        try #require(await service.errors.line(saying: "status at") != nil)
        let address = "unix:" + bench.directory.path("status")
        let config = try bench.directory.write(text.replacing("ADDRESS", with: address).utf8, to: "config.json")
        let why = try await BuiltProgram.run(["why", "--config", config])
        #expect(!why.standardOutput.isEmpty && why.ending != .exited(78))
        let said = String(decoding: why.standardError, as: UTF8.self)
        #expect(said.contains(config) && said.contains("asking the running service at \(address)"), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func sayWhyAServiceHasNoStatusAddress() async throws {
        let bench = try ServiceBench()
        let address = "unix:" + bench.directory.path("none/status")
        let service = try bench.start { $0.status = address }
        try #require(await service.errors.line(saying: "status address unavailable") != nil)
        let why = try await BuiltProgram.run(["why", "--config", bench.directory.path("config.json")])
        let said = String(decoding: why.standardError, as: UTF8.self)
        let words =
            "(process \(service.processID)) runs, but status address unavailable: status.listen: cannot listen on \(address): No such file "
            + "or directory; create \(bench.directory.path("none")) for this user, or "
        #expect(why.ending == .exited(69) && said.contains(words), "\(said)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The address in the configuration belongs to another vehicle's service.
    @Test(arguments: ["why", "status"]) func sayThatTheServiceReportsAnotherVehicle(command: String) async throws {
        let bench = try ServiceBench()
        let service = try bench.start(Self.statusSocketEdit(for: bench))
        try #require(await service.errors.line(saying: "status at") != nil)
        let text = try String(contentsOf: URL(filePath: bench.directory.path("config.json")), encoding: .utf8)
        let config = try bench.directory.write(
            text.replacing(#""vehicleId": "van-7""#, with: #""vehicleId": "van-8""#).utf8, to: "other.json")
        let outcome = try await BuiltProgram.run([command, "--config", config])
        #expect(outcome.ending == .exited(1))
        let said = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(
            said.contains(
                "for another vehicle, providers/p/vehicles/van-7; the service uses \(bench.directory.path(""))"),
            "\(said)")
        // A copy for the same vehicle is another configuration, too.
        let copy = try await BuiltProgram.run(
            [command, "--config", try bench.directory.write(text.utf8, to: "copy.json")])
        #expect(String(decoding: copy.standardError, as: UTF8.self).contains("copy.json; check that file (--config "))
        #expect(await service.terminate().ending == .exited(0))
    }

    /// nohup makes a program ignore SIGHUP.
    @Test func sayThatTheServiceIgnoresRequestsToReload() async throws {
        let bench = try ServiceBench()
        let service = try RunningProgram(
            ["/usr/bin/nohup", BuiltProgram.waypost, "run", "--config", try bench.configure()],
            environment: BuiltProgram.environment)
        #expect(await service.errors.line(saying: "SIGHUP is ignored, as under nohup") != nil)
        service.signal(SIGHUP)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func nameTheHolderOfTheStatusAddress() {
        let words = Operations.RunningService.reasonForSilence(
            at: .loopback(host: "127.0.0.1", port: 9464), of: HoldingProcess(processID: 7, command: "waypost"),
            outboxPath: "/o", error: SystemError(call: "connect", number: ECONNREFUSED),
            fault: .portInUse(9464, by: .process("x (process 8)", stopCommand: "kill 8")))
        #expect(
            words
                == "waypost (process 7) runs, but status address unavailable: status.listen: cannot listen on 127.0.0.1:9464: x (process "
                + "8) holds it; stop it (kill 8), or choose another port (0 selects a free one)")
    }

    @Test func nameTheServicesThatUseAnotherConfiguration() {
        let one = HoldingProcess(processID: 7, command: "waypost")
        #expect(Operations.RunningService.hint(atOtherServices: []).isEmpty)
        #expect(
            Operations.RunningService.hint(atOtherServices: [one])
                == "; waypost (process 7) runs with another configuration: to query it, specify that file with "
                + "--config")
        #expect(
            Operations.RunningService.hint(atOtherServices: [one, one, one]).hasPrefix(
                "; waypost (process 7) and 2 more run with another configuration"))
    }

    /// The service has another address, configuration file and outbox.
    @Test func findAServiceWithAnotherConfiguration() async throws {
        let (asked, running) = (try ServiceBench(), try ServiceBench())
        let service = try running.start()
        try #require(await service.errors.line(saying: "status at") != nil)
        let why = try await BuiltProgram.run(["why", "--config", try asked.configure { $0.status = "127.0.0.1:1" }])
        #expect(why.ending == .exited(69))
        // The message may name services of other tests instead.
        let words = String(decoding: why.standardError, as: UTF8.self)
        let other = /; waypost run .* \(process \d+\) (and \d+ more run|runs) with another configuration:/
        #expect(words.contains(other), "\(words)")
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The process that holds the outbox isn't suspended by a signal, but doesn't answer.
    @Test func reportAHangingService() {
        let words = Operations.RunningService.reasonForSilence(
            at: .loopback(host: "127.0.0.1", port: 9464), of: HoldingProcess(processID: getpid(), command: "waypost"),
            outboxPath: "/o/outbox.sqlite", error: SystemError(call: "read", number: EAGAIN))
        #expect(
            words
                == "waypost (process \(getpid())) uses the outbox /o/outbox.sqlite, but nothing answers within 10 s on "
                + "127.0.0.1:9464: it hangs, or uses another configuration (specify that file with --config); stop it "
                + "(kill \(getpid())) and start it again")
    }

    /// Only root and the owner of a Unix socket may use it.
    @Test(.enabled(if: geteuid() == 0, "only root may ask as another user"))
    func nameTheUsersWhoMayAsk() async throws {
        let bench = try ServiceBench()
        let service = try bench.start(Self.statusSocketEdit(for: bench))
        try #require(await service.errors.line(saying: "status at") != nil)
        let outcome = try await ChildProcess(
            arguments: BuiltProgram.command(asUser: 4711) + ["why", "--config", bench.directory.path("config.json")],
            environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(69))
        let address = "unix:" + bench.directory.path("status")
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: \(address) is closed to uid 4711; run this as root (sudo), or see systemctl status waypost\n"
        )
        // The check must not report that the service's receiver and outbox are free.
        let check = try await ChildProcess(
            arguments: BuiltProgram.command(asUser: 4711) + [
                "check", "--online", "--config", bench.directory.path("config.json"),
            ], environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        let lines = String(decoding: check.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
        let words = "FAIL  service        \(address) is closed to uid 4711; run this as root (sudo), or see systemctl "
        #expect(lines.contains { $0.hasPrefix(words) }, "\(lines)")
        for name in ["outbox  ", "receiver"] {
            #expect(lines.contains("skip  \(name)       the service does not answer"), "\(lines)")
        }
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func warnOfAPrivateSwitchThatCanNeverBeOn() async throws {
        let bench = try ServiceBench()
        let path = bench.directory.path("none/private")
        let service = try bench.start {
            $0.vehicle = #""privateModeFile": "\#(path)""#
            $0.logFormat = "json"
        }
        let line = try #require(await service.errors.line(saying: #""code":"private_mode_misconfigured""#))
        #expect(line.text.contains("\(path) is in a directory that does not exist, so the vehicle is never private"))
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The reason why a run terminated itself is shown while the service is down; the next run logs it and removes it.
    @Test func reportWhyTheLastRunEndedItself() async throws {
        let bench = try ServiceBench()
        let config = try bench.configure(Self.statusSocketEdit(for: bench))
        let path = StallRecord.path(forOutbox: bench.directory.path("outbox.sqlite"))
        let stall = Stall(stage: .token, duration: .seconds(120))
        try StallRecord(stall, time: UTCTime(year: 2026, month: 11, day: 21), uptime: .seconds(9)).write(to: path)
        let down = try await BuiltProgram.run(["status", "--config", config])
        #expect(down.ending == .exited(69))
        let reason = "terminated itself at 2026-11-21T00:00:00.000Z: token: the token provider has returned neither"
        #expect(String(decoding: down.standardError, as: UTF8.self).contains(reason))

        let service = try bench.start(Self.statusSocketEdit(for: bench))
        let cause =
            "service stalled and terminated itself: 2026-11-21T00:00:00.000Z: token: "
            + "the token provider has returned neither"
        #expect(await service.errors.line(saying: cause) != nil)
        try #require(await service.errors.line(saying: "status at") != nil)
        #expect(try FileSystem.entry(at: path) == nil)
        let json = try await BuiltProgram.run(["status", "--json", "--config", config])
        let conditions = try JSONValue(parsing: json.standardOutput)["conditions"]?.arrayValue
        #expect(conditions?.contains { $0["code"]?.stringValue == "last_run_stalled" } == true)
        let address = try LocalAddress("unix:" + bench.directory.path("status"))
        let metrics = await RawExchange.get("/metrics", from: address).text
        #expect(metrics.contains(#"waypost_condition{code="last_run_stalled",severity="warning",stage="service"} 1"#))
        #expect(metrics.contains("waypost_stage_bypasses_total{stage=\"receiver\"} 0"))
        #expect(await service.terminate().ending == .exited(0))
    }

    /// Other clients hold more connections than the service serves and the kernel queues.
    @Test func areAnsweredWhileOthersHoldEveryConnection() async throws {
        let bench = try ServiceBench()
        let reservation = try LoopbackSocket.reservation()
        let port = reservation.port
        let service = try bench.start { $0.status = "127.0.0.1:\(port)" }
        try #require(await service.errors.line(saying: "status at") != nil)
        let held = try (0..<300).map { _ in try LoopbackSocket(.stream, connectedTo: port) }
        let why = try await BuiltProgram.run(["why", "--config", bench.directory.path("config.json")])
        #expect(why.ending != .exited(69), "\(String(decoding: why.standardError, as: UTF8.self))")
        #expect(String(decoding: why.standardOutput, as: UTF8.self).contains("receiver"))
        withExtendedLifetime(held) {}
        #expect(await service.terminate().ending == .exited(0))
    }

    /// The message names the process that has the outbox. It must not say that nothing runs, or advise the user to stop
    /// their own service.
    @Test func nameAServiceThatDoesNotAnswer() async throws {
        let bench = try ServiceBench()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let address = bench.directory.path("status")
        let service = try bench.start(Self.statusSocketEdit(for: bench))
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try #require(await service.errors.line(saying: "status at") != nil)
        let config = bench.directory.path("config.json")
        let owner = "waypost run --config \(config) (process \(service.processID))"
        try FileManager.default.removeItem(atPath: address)
        let unheard =
            "\(owner) uses the outbox \(bench.directory.path("outbox.sqlite")), but nothing listens on unix:\(address): "
        let lost =
            unheard
            + "it uses another configuration (specify that file with --config), or can't listen there (see its log); "
            + "stop it (kill \(service.processID)) and start it again"
        let why = try await BuiltProgram.run(["why", "--config", config])
        #expect(why.ending == .exited(69))
        #expect(String(decoding: why.standardError, as: UTF8.self) == "waypost: \(lost)\n")

        let check = try await BuiltProgram.run(["check", "--online", "--config", config])
        #expect(check.ending == .exited(69))
        let lines = String(decoding: check.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.contains("FAIL  service        \(lost)"), "\(lines)")
        for name in ["outbox  ", "receiver"] {
            #expect(lines.contains("skip  \(name)       the service does not answer"), "\(lines)")
        }

        service.signal(SIGSTOP)
        let stopped = try await BuiltProgram.run(["status", "--config", config])
        let said = String(decoding: stopped.standardError, as: UTF8.self)
        let words = "it is stopped (Control-Z, or kill -STOP); continue it (kill -CONT \(service.processID))"
        #expect(said == "waypost: \(unheard)\(words)\n")
        service.signal(SIGCONT)
        #expect(await service.terminate().ending == .exited(0))
        withExtendedLifetime(receiver) {}
    }

    @Test func reportThatPortZeroCannotBeQueried() async throws {
        let bench = try ServiceBench()
        let outcome = try await BuiltProgram.run(["status", "--config", try bench.configure()])
        #expect(outcome.ending == .exited(69))
        #expect(String(decoding: outcome.standardError, as: UTF8.self).contains("set a fixed port"))

        let service = try bench.start()
        try #require(await service.errors.line(saying: "status at") != nil)
        let again = try await BuiltProgram.run(["why", "--config", bench.directory.path("config.json")])
        let words =
            "(process \(service.processID)) uses the outbox, but cannot be queried: status.listen is "
            + "127.0.0.1:0, "
        #expect(again.ending == .exited(69))
        #expect(String(decoding: again.standardError, as: UTF8.self).contains(words))
        #expect(await service.terminate().ending == .exited(0))
    }
}
