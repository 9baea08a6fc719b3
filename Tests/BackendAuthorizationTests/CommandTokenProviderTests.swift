import Glibc
import LinuxPlatform
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite(.timeLimit(.minutes(1))) struct CommandTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van-7", taskID: "t")

    private func makeProvider(
        _ script: String, _ arguments: String..., limit: Duration = .seconds(20)
    ) throws -> CommandTokenProvider {
        try CommandTokenProvider(
            arguments: ["/bin/sh", "-c", script, "sh"] + arguments,
            environment: ["EXTRA": .literal("yes"), "KEY": .environment("HELD")],
            processEnvironment: ["HELD": "hush hush"], providerID: "p",
            timeLimit: limit
        ) { _ in }
    }

    @Test(arguments: ["%s", "%s\\n", #"{"VEHICLE_TOKEN_KEY":"%s"}"#])
    func readTheOutputOfTheProgram(format: String) async throws {
        let token = TestTokens.driver(vehicleID: "van-7")
        let provider = try makeProvider("echo noise >&2; printf '\(format)' \"$1\"", token)
        #expect(try await provider.token(for: van7) == AuthorizationToken(value: token, lifetime: .seconds(3600)))
    }

    @Test func passTheProgramOnlyItsContext() async throws {
        let provider = try makeProvider(
            #"test "$1" = van-7 && test "$WAYPOST_VEHICLE_ID$WAYPOST_TASK_ID$WAYPOST_PROVIDER_ID$EXTRA" = van-7tpyes "#
                + #"&& test -z "$(env | grep -vE '^(PATH|HOME|LANG|EXTRA|KEY|PWD|OLDPWD|SHLVL|_|WAYPOST_[A-Z_]+)=')" "#
                + #"&& test -z "$(cat)" && printf %s "$2""#,
            "{vehicleId}", TestTokens.driver(vehicleID: "van-7"))
        #expect(try await provider.token(for: van7).lifetime == .seconds(3600))
    }

    /// The behaviour of a program, and the resulting fault.
    @Test(
        arguments: [
            ("exit 127", .exited(127, Output())),
            ("echo first >&2; echo key missing >&2; exit 3", .exited(3, Output(lines: ["key missing", "first"]))),
            ("printf '\\033[2Jkey\\tmissing\\n' >&2; exit 3", .exited(3, Output(lines: ["\u{FFFD}[2Jkey missing"]))),
            ("echo 'one\n \ntwo' >&2; exit 3", .exited(3, Output(lines: ["two", "one"]))),
            (
                "echo 'begun\nERROR: no login\nsee the manual' >&2; exit 3",
                .exited(3, Output(lines: ["ERROR: no login", "see the manual"]))
            ),
            (
                "echo 'Traceback:\nValueError: no key' >&2; exit 3",
                .exited(3, Output(lines: ["ValueError: no key"]))
            ),
            ("kill -9 $$", .signalled(9, Output())), ("echo \"$1\"; exit 3", .exited(3, Output(hasOutput: true))),
            ("echo \"no $KEY: $1\" >&2; exit 1", .exited(1, Output(lines: ["no …: …"]))),
            ("echo \"$1\" | fold -w 30 | sed -n 1p >&2; exit 1", .exited(1, Output(lines: ["…"]))),
            ("head -c 100000 /dev/zero; sleep 100", .tooMuchOutput),
            ("sleep 100", .timedOut(.milliseconds(200), Output())),
            ("trap '' TERM; sleep 100 & wait", .timedOut(.milliseconds(200), Output())),
        ] as [(String, CommandFault)])
    func reportHowTheProgramFailed(script: String, fault: CommandFault) async throws {
        var limit = Duration.seconds(20)
        if case .timedOut(let time, _) = fault { limit = time }
        let error = await #expect(throws: AuthorizationError.self) {
            try await makeProvider(script, TestTokens.driver(vehicleID: "van-7"), limit: limit).token(for: van7)
        }
        #expect(error?.fault == .commandFailed(origin, fault))
    }

    @Test(
        arguments: [
            ("exit 0", .nothing(isNull: false)), ("echo no login >&2", .nothingPrinted(errorLines: ["no login"])),
            ("echo null; echo no login >&2", .nothingPrinted(errorLines: ["no login"])), ("echo '<html>'", .page),
        ] as [(String, AnswerFault)])
    func rejectOutputWithoutAToken(script: String, fault: AnswerFault) async throws {
        let error = await #expect(throws: AuthorizationError.self) { try await makeProvider(script).token(for: van7) }
        #expect(error?.fault == .unusableAnswer(origin, fault))
    }

    /// A program with endless output is killed, and the reader isn't delayed.
    @Test func killAProgramThatWritesEndlessly() async throws {
        let error = await #expect(throws: AuthorizationError.self) {
            try await makeProvider("yes x >&2 & yes y >&2 & yes z >&2", limit: .milliseconds(200)).token(for: van7)
        }
        guard case .commandFailed(_, .timedOut) = error?.fault else { throw try #require(error) }
    }

    private typealias Output = CommandFault.Output

    private var origin: TokenOrigin {
        TokenOrigin(.command, "/bin/sh", tokenKey: "VEHICLE_TOKEN_KEY", subject: van7.subject)
    }

    @Test func nameAProgramThatCannotBeStarted() async throws {
        let provider = try CommandTokenProvider(arguments: ["/nonexistent/program"], providerID: "p") { _ in }
        let fault = TokenFault.programUnusable(key: "authorization.command", .missing("/nonexistent/program"))
        await #expect(throws: AuthorizationError(fault)) { try await provider.token(for: van7) }
    }

    @Test(arguments: [[], [""]])
    func requireAProgram(arguments: [String]) {
        let fault = TokenFault.invalidSetting(key: "consumerAuthorization.command", .noProgram)
        #expect(throws: AuthorizationError(fault)) {
            try CommandTokenProvider(arguments: arguments, section: "consumerAuthorization", providerID: "p") { _ in }
        }
    }

    @Test func passNoDescriptorsToTheProgram() async throws {
        let directory = try TemporaryDirectory()
        // A descriptor that another library might have opened without close-on-exec.
        let leaky = unsafe open(try directory.write("".utf8, to: "open", mode: 0o600), O_RDONLY)
        defer { close(leaky) }
        let token = TestTokens.driver(vehicleID: "van-7")
        let provider = try makeProvider("test ! -e /proc/$$/fd/\(leaky) && printf %s \(token)")
        #expect(try await provider.token(for: van7).value == token)
    }

    @Test func leaveNoProcessBehind() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let token = TestTokens.driver(vehicleID: "van-7")
        // The grandchild keeps the pipe open, so the stream ends when the grandchild ends.
        let reading = Task {
            await onThread(named: "fifo") { () -> Bool in
                guard let pipe = try? OwnedDescriptor(opening: path, O_RDONLY) else { return false }
                var buffer = [UInt8](repeating: 0, count: 16)
                var span = buffer.mutableSpan
                while let count = try? pipe.read(into: &span), count > 0 {}
                return true
            }
        }
        let provider = try makeProvider(
            "(sh -c 'sleep 1000' 3>\(path) >/dev/null &) ; exec 3>\(path); printf %s \"$1\"", token)
        #expect(try await provider.token(for: van7).value == token)
        #expect(await reading.value)
    }

    @Test func killTheWholeGroupWhenCancelled() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let (starts, announcer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // The stream ends when the last process that has the pipe open ends.
        let reading = Task {
            await onThread(named: "fifo") { () -> Bool in
                guard let pipe = try? OwnedDescriptor(opening: path, O_RDONLY) else { return false }
                var buffer = [UInt8](repeating: 0, count: 16)
                var span = buffer.mutableSpan
                while let count = try? pipe.read(into: &span), count > 0 { announcer.yield() }
                return true
            }
        }
        let provider = try makeProvider("exec 3>\(path); sleep 1000 & echo up >&3; sleep 1000")
        let running = Task { try await provider.token(for: van7) }
        for await _ in starts { break }
        running.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await running.value }
        #expect(error?.code == .cancelled)
        #expect(await reading.value)
    }
}
