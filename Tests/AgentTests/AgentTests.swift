import FleetEngineSimulator
import LinuxPlatform
import ReceiverSimulator
import Testing
import VehicleAuthorization
import Operations
import Waypost
import WaypostTestSupport

/// The service embedded in a program that has its own token provider.
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

    /// Returns the configured provider, which counts its calls. `beforeAnswer` receives the number of each call.
    private func makeCountingProvider(beforeAnswer: @escaping @Sendable (Int) async -> Void = { _ in }) throws
        -> ScriptedAuthorization
    {
        let own = try configuration.makeProvider()
        return ScriptedAuthorization { context, number throws(AuthorizationError) in
            await beforeAnswer(number)
            return try await own.token(for: context)
        }
    }

    @Test(arguments: [(CachePolicy(), false), (.askingAtEveryUpdate, true)])
    func askTheirProviderAccordingToThePolicy(policy: CachePolicy, atEveryUpdate: Bool) async throws {
        let provider = try makeCountingProvider()
        try await Agent(configuration, authorization: provider, cachePolicy: policy).run()
        let updates = try #require(await bench.vehicle?.updates)
        #expect(updates > 3)
        // The final state is also sent as an update, possibly at the same moment as the last position.
        #expect(atEveryUpdate ? provider.asked.count >= updates : provider.asked.count == 1, "\(provider.asked.count)")
    }

    @Test func askAgainAfterForgettingTheirToken() async throws {
        let agent = Locked<Agent?>(nil)
        let provider = try makeCountingProvider { number in
            if number == 1 { await agent.withLock { $0 }?.forgetToken() }
        }
        let made = Agent(configuration, authorization: provider)
        agent.withLock { $0 = made }
        try await made.run()
        agent.withLock { $0 = nil }  // otherwise the agent, its provider and the closure would retain each other
        await made.forgetToken()  // the closure now does nothing
        #expect(provider.asked.count == 2)
    }
}
