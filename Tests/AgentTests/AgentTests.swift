import FleetEngineSimulator
import LinuxPlatform
import ReceiverSimulator
import Testing
import VehicleAuthorization
import Operations
import Waypost
import WaypostTestSupport

/// The service as a program embeds it, with a token provider of its own.
@Suite(.timeLimit(.minutes(2))) struct Agents {
    private let bench: ServiceBench
    private let configuration: Configuration

    init() throws {
        bench = try ServiceBench()
        let log = try bench.directory.write(
            Drive(.town, duration: .seconds(600)).flatMap(\.sentences), to: "drive.nmea")
        configuration = try Configuration(
            file: try bench.configure {
                $0.receiver = #"{"type": "file", "path": "\#(log)"}"#
                $0.level = "error"
            })
    }

    /// The configured provider, which counts how often it is asked; `beforeAnswer` hears the number of the asking.
    private func provider(beforeAnswer: @escaping @Sendable (Int) async -> Void = { _ in }) throws
        -> ScriptedAuthorization
    {
        let own = try configuration.makeProvider(log: LogWriter(level: .error, format: .text))
        return ScriptedAuthorization { context, number throws(AuthorizationError) in
            await beforeAnswer(number)
            return try await own.token(for: context)
        }
    }

    @Test(arguments: [(CachePolicy(), false), (.askingAtEveryUpdate, true)])
    func askTheirProviderAsThePolicySays(policy: CachePolicy, atEveryUpdate: Bool) async throws {
        let provider = try provider()
        try await Agent(configuration, authorization: provider, cachePolicy: policy).run()
        let updates = try #require(await bench.vehicle?.updates)
        #expect(updates > 3)
        // The state at the end is an update as well, and may be the second within the same moment.
        #expect(atEveryUpdate ? provider.asked.count >= updates : provider.asked.count == 1, "\(provider.asked.count)")
    }

    @Test func askAgainWhenTheyForgetTheirToken() async throws {
        let agent = Locked<Agent?>(nil)
        let provider = try provider { number in
            if number == 1 { await agent.withLock { $0 }?.forgetToken() }
        }
        let made = Agent(configuration, authorization: provider)
        agent.withLock { $0 = made }
        try await made.run()
        agent.withLock { $0 = nil }  // as it holds the provider, and the provider this
        await made.forgetToken()  // which does nothing any more
        #expect(provider.asked.count == 2)
    }
}
