import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// The simulation itself: it is reproducible, and its laws find planted bugs.
@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "the simulation runs on one thread"))
struct Simulation {
    @Test func givesTheSameRunForTheSameSeed() async throws {
        let first = try await Self.run("world", "--seed", "5", "--hours", "1")
        #expect(first.contains("all laws held for 1.0 h"))
        #expect(try await Self.run("world", "--seed", "5", "--hours", "1") == first)
        let other = try await Self.run("world", "--seed", "6", "--hours", "1")
        #expect(Self.hash(in: other) != Self.hash(in: first))
    }

    @Test func printsTheEvents() async throws {
        let output = try await Self.run("world", "--seed", "5", "--hours", "0.1", "--trace")
        for event in ["the service starts", "fix of", "accepted 1 of", "uploading 2 of", "the end"] {
            #expect(output.contains(event), "no event says \"\(event)\"")
        }
    }

    @Test func passesWithTwentyVehicles() async throws {
        let output = try await Self.run("campaign", "--seed", "3", "--hours", "10", "--world-hours", "0.5")
        #expect(output.contains("10.0 vehicle hours in 20 worlds"))
    }

    @Test func findsAPlantedBugAndReplaysIt() async throws {
        let output = try await Self.run(
            "campaign", "--hours", "48", "--world-hours", "4", "--planted", "countsUnsentAsDelivered", exitCode: 1)
        #expect(output.contains("BROKEN deliveredWasSeen"))
        let line = try #require(output.split(separator: "\n").first { $0.contains("replay:") })
        let command = line.split(separator: " ").drop { $0 != "world" }.prefix { $0 != "(trace" }.map(String.init)
        let replayed = try await Self.run(command, exitCode: 1)
        #expect(line.contains(Self.hash(in: replayed)))
    }

    @Test(arguments: [
        ([], "give one of"), (["world", "--seed", "x"], "x isn't a valid seed"),
        (["world", "--without", "luck"], "fullDisk"),
    ])
    func explainsInvalidArguments(arguments: [String], message: String) async throws {
        #expect(try await Self.run(arguments, exitCode: 64).contains(message))
    }

    private static func hash(in text: String) -> String {
        text.split(separator: "trace hash ").last.map { String($0.prefix { $0.isHexDigit }) } ?? "none"
    }

    private static func run(_ arguments: String..., exitCode: Int32 = 0) async throws -> String {
        try await run(arguments, exitCode: exitCode)
    }

    /// Runs the `DeliverySimulation` that was built together with these tests. Returns its standard output.
    private static func run(_ arguments: [String], exitCode: Int32 = 0) async throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let builtProgram = URL(filePath: tests).deletingLastPathComponent().appending(path: "DeliverySimulation").path
        let isThere = FileManager.default.isExecutableFile(atPath: builtProgram)
        let program = isThere ? builtProgram : Fixtures.checkout.appending(path: ".build/debug/DeliverySimulation").path
        var environment = ProcessInfo.processInfo.environment.filter {
            ["LLVM_PROFILE_FILE", "TSAN_OPTIONS", "SWIFT_BACKTRACE"].contains($0.key)
        }
        // Tasks that still wait at the end of a world leak. The components' own tests find their leaks.
        environment["ASAN_OPTIONS"] = "detect_leaks=0"
        let outcome = try await ChildProcess(
            arguments: [program] + arguments, environment: environment, timeLimit: .seconds(240), outputLimit: 1 << 24
        ).run()
        let text = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(
            outcome.ending == .exited(exitCode), "\(text) \(String(decoding: outcome.standardError, as: UTF8.self))")
        return text
    }
}
