import Glibc
import LinuxPlatform
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite(.timeLimit(.minutes(1))) struct CommandTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van-7", taskID: "t")

    private func provider(
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
    func readsWhatTheProgramPrints(format: String) async throws {
        let token = TestTokens.driver(vehicleID: "van-7")
        let provider = try provider("echo noise >&2; printf '\(format)' \"$1\"", token)
        #expect(try await provider.token(for: van7) == AuthorizationToken(value: token, lifetime: .seconds(3600)))
    }

    @Test func givesTheProgramContextAndNothingElse() async throws {
        let provider = try provider(
            #"test "$1" = van-7 && test "$WAYPOST_VEHICLE_ID$WAYPOST_TASK_ID$WAYPOST_PROVIDER_ID$EXTRA" = van-7tpyes "#
                + #"&& test -z "$(env | grep -vE '^(PATH|HOME|LANG|EXTRA|KEY|PWD|OLDPWD|SHLVL|_|WAYPOST_[A-Z_]+)=')" "#
                + #"&& test -z "$(cat)" && printf %s "$2""#,
            "{vehicleId}", TestTokens.driver(vehicleID: "van-7"))
        #expect(try await provider.token(for: van7).lifetime == .seconds(3600))
    }

    @Test(
        arguments: [
            (
                "exit 0", AuthorizationError.Code.unusableAnswer,
                "under \"VEHICLE_TOKEN_KEY\"; run it by hand as the service's user"
            ),
            (
                "exit 127", .unavailable,
                "status 127, saying nothing on standard error; run it by hand as the service's user"
            ),
            ("echo first >&2; echo key missing >&2; exit 3", .unavailable, "failed with status 3: key missing"),
            ("printf '\\033[2Jkey\\tmissing\\n' >&2; exit 3", .unavailable, "status 3: \u{FFFD}[2Jkey missing"),
            (
                "echo no login >&2", .unusableAnswer,
                "gave no token; expected it on its standard output. It said: no login"
            ),
            ("echo 'one\n \ntwo' >&2; exit 3", .unavailable, "failed with status 3: two (its first line: one); run it"),
            (
                "echo 'begun\nERROR: no login\nsee the manual' >&2; exit 3", .unavailable,
                "failed with status 3: ERROR: no login (its last line: see the manual)"
            ),
            (
                "echo 'Traceback:\nValueError: no key' >&2; exit 3", .unavailable,
                "failed with status 3: ValueError: no key"
            ),
            ("kill -9 $$", .unavailable, "was ended by signal 9"),
            (
                "exit 1", .unavailable,
                "failed with status 1, saying nothing on standard error; run it by hand as the service's user"
            ),
            (
                "echo \"$1\"; exit 3", .unavailable,
                "status 3, saying nothing on standard error (what it said on standard output may be a token, and is not shown); "
                    + "run it by hand"
            ),
            ("echo \"no $KEY: $1\" >&2; exit 1", .unavailable, "failed with status 1: no …: …"),
            ("echo \"$1\" | fold -w 30 | sed -n 1p >&2; exit 1", .unavailable, "failed with status 1: …"),
            ("head -c 100000 /dev/zero; sleep 100", .unusableAnswer, "wrote more than 64 KiB"),
            ("echo '<html>'", .unusableAnswer, "gave a page"), ("sleep 100", .unavailable, "took longer than"),
            (
                "echo null; echo no login >&2", .unusableAnswer,
                "gave no token; expected it on its standard output. It said"
            ),
            ("trap '' TERM; sleep 100 & wait", .unavailable, "took longer than"),
            ("yes x >&2 & yes y >&2 & yes z >&2", .unavailable, "took longer than"),
        ])
    func failsInWords(script: String, code: AuthorizationError.Code, words: String) async throws {
        let limit: Duration = words == "took longer than" ? .milliseconds(200) : .seconds(20)
        let error = await #expect(throws: AuthorizationError.self) {
            try await provider(script, TestTokens.driver(vehicleID: "van-7"), limit: limit).token(for: van7)
        }
        #expect(error?.code == code)
        #expect(error?.description.hasPrefix("token command /bin/sh ") == true)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func namesAProgramThatCannotBeStarted() async throws {
        let provider = try CommandTokenProvider(arguments: ["/nonexistent/program"], providerID: "p") { _ in }
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.code == .misconfigured)
        #expect(
            error?.description
                == "token command /nonexistent/program cannot be started: authorization.command: there is no "
                + "/nonexistent/program; check the path, and that the program is installed")
    }

    @Test(arguments: [[], [""]])
    func needsAProgram(arguments: [String]) {
        let error = #expect(throws: AuthorizationError.self) {
            try CommandTokenProvider(arguments: arguments, section: "consumerAuthorization", providerID: "p") { _ in }
        }
        #expect(error?.code == .misconfigured)
        #expect(error?.description.hasPrefix("consumerAuthorization.command names no program") == true)
    }

    @Test func keepsItsDescriptorsToItself() async throws {
        let folder = try TemporaryFolder()
        // What another library might have left open: no close-on-exec.
        let leaky = unsafe open(try folder.write("".utf8, to: "open", mode: 0o600), O_RDONLY)
        defer { close(leaky) }
        let token = TestTokens.driver(vehicleID: "van-7")
        let provider = try provider("test ! -e /proc/$$/fd/\(leaky) && printf %s \(token)")
        #expect(try await provider.token(for: van7).value == token)
    }

    @Test func mayNotLeaveAProcessBehind() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let token = TestTokens.driver(vehicleID: "van-7")
        // The grandchild holds the pipe open: its stream ends when that process has gone.
        let reading = Task {
            await onThread(named: "fifo") { () -> Bool in
                guard let pipe = try? OwnedDescriptor(opening: path, O_RDONLY) else { return false }
                var buffer = [UInt8](repeating: 0, count: 16)
                var span = buffer.mutableSpan
                while let count = try? pipe.read(into: &span), count > 0 {}
                return true
            }
        }
        let provider = try provider(
            "(sh -c 'sleep 1000' 3>\(path) >/dev/null &) ; exec 3>\(path); printf %s \"$1\"", token)
        #expect(try await provider.token(for: van7).value == token)
        #expect(await reading.value)
    }

    @Test func endsTheWholeGroupWhenCancelled() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let (starts, announcer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // The pipe's stream ends when the last process that holds it has gone.
        let reading = Task {
            await onThread(named: "fifo") { () -> Bool in
                guard let pipe = try? OwnedDescriptor(opening: path, O_RDONLY) else { return false }
                var buffer = [UInt8](repeating: 0, count: 16)
                var span = buffer.mutableSpan
                while let count = try? pipe.read(into: &span), count > 0 { announcer.yield() }
                return true
            }
        }
        let provider = try provider("exec 3>\(path); sleep 1000 & echo up >&3; sleep 1000")
        let running = Task { try await provider.token(for: van7) }
        for await _ in starts { break }
        running.cancel()
        let error = await #expect(throws: AuthorizationError.self) { try await running.value }
        #expect(error?.code == .cancelled)
        #expect(await reading.value)
    }
}
