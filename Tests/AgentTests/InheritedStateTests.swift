import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// The environment, descriptors and limits that `waypost` inherits, and its handling of them.
@Suite(.timeLimit(.minutes(1)), .serialized) struct InheritedState {
    static let hasNoSanitizer = BuiltProgram.environment.keys.allSatisfy { !$0.hasSuffix("SAN_OPTIONS") }

    @Test(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"))
    func ignoresVariablesThatLeakTLSSecretsOrSetAProxy() async throws {
        let now = Int(Date().timeIntervalSince1970)
        let server = try await NginxServer(token: TestTokens.driver(vehicleID: "van-7", issuedAt: now))
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(
            authorization: """
                {"type": "http", "url": "https://localhost:\(server.port)/token", "caFile": "\(server.caFile)"}
                """
        ).write(in: directory)
        let keys = directory.path("keys")
        let outcome = try await ChildProcess(
            arguments: [BuiltProgram.waypost, "token", "--config", config],
            environment: BuiltProgram.environment.merging([
                "SSLKEYLOGFILE": keys, "https_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1",
                "OPENSSL_CONF": directory.path("none"), "SSL_CERT_FILE": directory.path("none"),
                "CURL_CA_BUNDLE": directory.path("none"), "GLIBC_TUNABLES": "glibc.malloc.perturb=1",
            ]) { $1 }, timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardError, as: UTF8.self))")
        #expect(try FileSystem.entry(at: keys) == nil, "TLS secrets were written to a file")
    }

    /// Variables that the loader and the allocator read before the program's first line are also removed.
    @Test func restartsWithoutUnwantedVariables() async throws {
        let bench = try ServiceBench()
        let service = try bench.start(environment: [
            "MALLOC_ARENA_MAX": "7", "GLIBC_TUNABLES": "glibc.malloc.check=1", "https_proxy": "http://127.0.0.1:1",
            "TZ": "Pacific/Apia",
        ])
        let warning =
            "upload.proxy is not set, and the proxy in the environment variable https_proxy isn't used; if the vehicle "
            + "needs a proxy, set upload.proxy and authorization.proxy"
        try #require(await service.errors.line(saying: warning) != nil)
        let environment = try FileSystem.read(1 << 16, at: 0, of: "/proc/\(service.processID)/environ")
            .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        #expect(environment.contains("TZ=Pacific/Apia"))
        #expect(!environment.contains { $0.contains("malloc") || $0.contains("MALLOC") || $0.contains("127.0.0.1:1") })
        let name = try FileSystem.read(64, at: 0, of: "/proc/\(service.processID)/comm")
        #expect(String(decoding: name, as: UTF8.self) == "waypost\n")
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test(arguments: ["<&- >&- 2>&-", "2>&-", ">&-", "<&-"])
    func neverReusesTheDescriptorsOfClosedStandardStreams(closed: String) async throws {
        let bench = try ServiceBench()
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let service = try RunningProgram(
            [
                "/bin/sh", "-c", "exec \"$0\" run --config \"$1\" \(closed)", BuiltProgram.waypost,
                try bench.configure(),
            ],
            environment: BuiltProgram.environment.merging(["NOTIFY_SOCKET": manager.path]) { $1 })
        try #require(await manager.messages.line(saying: "READY=1") != nil)
        for (number, word) in [(0, "<&-"), (1, " >&-"), (2, "2>&-")] where " \(closed)".contains(word) {
            #expect(FileSystem.linkTarget(at: "/proc/\(service.processID)/fd/\(number)") == "/dev/null")
        }
        service.signal(SIGTERM)
        #expect(await manager.messages.line(saying: "STOPPING=1") != nil)
        #expect(await service.end() == .exited(0))
    }

    /// A command fails if its output can't be written.
    @Test(arguments: ["fixes LOG", "fixes LOG --summary", "map LOG -o -", "help", "--version"])
    func reportsThatStandardOutputIsClosed(commandLine: String) async throws {
        let log = Fixtures.url("nmea/town.nmea").path
        let outcome = try await ChildProcess(
            arguments: [
                "/bin/sh", "-c", "exec \"$0\" \(commandLine.replacing("LOG", with: "'\(log)'")) >&-",
                BuiltProgram.waypost,
            ], environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(1))
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: standard output is closed, so the result can't be written; remove >&-\n")
    }

    /// Sizes in KiB for `ulimit`; with the smallest, not even the first thread could start.
    @Test(
        .enabled(if: hasNoSanitizer, "sanitizers map more"),
        arguments: [("-v", 70_000), ("-v", 120_000), ("-v", 200_000), ("-v", 280_000), ("-d", 12_000), ("-d", 90_000)])
    func reportsThatMemoryIsTooSmall(limit: String, kilobytes: Int) async throws {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup().write(in: directory)
        for words in [["run", "--config", config], ["replay", "/dev/null", "--config", config], ["--version"]] {
            let outcome = try await runWaypost(after: "ulimit \(limit) \(kilobytes)", arguments: words)
            #expect(outcome.ending == .exited(69))
            let errorLines = String(decoding: outcome.standardError, as: UTF8.self).split(separator: "\n")
            #expect(errorLines.count == 1, "\(errorLines)")
            #expect(errorLines.first?.hasPrefix("waypost: not enough memory: ") == true, "\(errorLines)")
        }
    }

    @Test(arguments: [6, 10, 14, 63]) func reportsThatTheFileLimitIsTooLow(count: Int) async throws {
        let outcome = try await runWaypost(after: "ulimit -n \(count)", arguments: ["run", "--config", "/nonexistent"])
        #expect(outcome.ending == .exited(69))
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: too few open files are allowed: at least 64 are needed; raise the limit (ulimit -n, "
                + "LimitNOFILE=)\n")
    }

    /// The program would wait forever for a thread of its pool if it didn't check the limit. Root isn't limited.
    @Test(.enabled(if: hasNoSanitizer, "sanitizers start their own threads"), arguments: [1, 8])
    func reportsThatTheThreadLimitIsTooLow(count: Int) async throws {
        let program = geteuid() == 0 ? BuiltProgram.command(asUser: 64_998) : [BuiltProgram.waypost]
        let outcome = try await runWaypost(
            after: "prlimit --nproc=\(count) --pid $$", arguments: ["run", "--config", "/nonexistent"], as: program)
        #expect(outcome.ending == .exited(69))
        let errorText = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(
            errorText.replacing(/, but only \d+ started/, with: "")
                == "waypost: too few threads can be started: at least 24 are needed; raise the limit of the user's "
                + "processes, which is \(count) (ulimit -u, LimitNPROC=), or that of the control group (TasksMax=)\n")
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can hide /proc"),
        .enabled(if: !Sanitizer.isActive, "a sanitizer needs /proc"))
    func reportsThatProcIsMissing() async throws {
        let outcome = try await runWaypost(
            after: "umount -l /proc", arguments: ["run"], in: ["/usr/bin/unshare", "--mount"])
        #expect(outcome.ending == .exited(69))
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: /proc is missing, and Swift's runtime needs it; mount it (mount -t proc proc /proc)\n")
    }

    @Test(.enabled(if: hasNoSanitizer, "sanitizers map more"))
    func runsIfMemoryIsLimitedButSufficient() async throws {
        let bench = try ServiceBench()
        let service = try RunningProgram(
            [
                "/bin/sh", "-c", "ulimit -v 500000; exec \"$0\" run --config \"$1\"", BuiltProgram.waypost,
                try bench.configure(),
            ], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "status at") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test(arguments: [
        ("pipe", "is a FIFO, not a file; specify the configuration file, which is JSON"),
        ("huge", "is larger than 1 MiB; specify the configuration file, which is JSON"),
        ("/dev/zero", "is a device, not a file; specify the configuration file, which is JSON"),
    ])
    func rejectsAnEndlessConfiguration(name: String, message: String) async throws {
        let directory = try TemporaryDirectory()
        let path = name.hasPrefix("/") ? name : directory.path(name)
        if name == "pipe" { try valueOrSystemError("make pipe") { unsafe mkfifo(path, 0o600) } }
        if name == "huge" {
            try directory.write([], to: name)
            try valueOrSystemError("truncate") { unsafe truncate(path, 1 << 30) }
        }
        for command in ["run", "check"] {
            let outcome = try await runWaypost(after: "ulimit -t 20", arguments: [command, "--config", path])
            #expect(outcome.ending == .exited(78))
            #expect(String(decoding: outcome.standardError, as: UTF8.self) == "waypost: \(path): \(message)\n")
        }
    }

    /// Runs `waypost` from a shell that has run a command first, and returns the outcome. `starter` is the start of the
    /// shell's command line.
    private func runWaypost(
        after shellCommand: String, arguments: [String], as program: [String] = [BuiltProgram.waypost],
        in starter: [String] = []
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess(
            arguments: starter + ["/bin/sh", "-c", "\(shellCommand); exec \"$0\" \"$@\""] + program + arguments,
            environment: BuiltProgram.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 },
            timeLimit: BuiltProgram.hangTimeout
        ).run()
    }
}
