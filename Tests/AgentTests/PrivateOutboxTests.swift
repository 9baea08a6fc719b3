import GNSS
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// The outbox's log at the start of a private period.
@Suite(.timeLimit(.minutes(1))) struct PrivateOutboxes {
    @Test func clearPositionsFromTheirLogWhenTheVehicleBecomesPrivate() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        var setup = ServiceSetup()
        setup.vehicle = #""privateModeFile": "\#(directory.path("private"))""#
        let monitor = AgentMonitor(clock: MonotonicClock(clock))
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            throw HTTPTransportError(.timedOut, "no answer")
        }
        let agent = try await VehicleAgent(
            try Configuration(file: try setup.write(in: directory)),
            VehicleAgent.Parts(
                source: NoSource(),
                makeDelivery: { $0.makeDelivery(authorization: ScriptedAuthorization(), transport: transport) },
                expectedFix: nil, spacing: .live, latestFix: { nil }, clock: MonotonicClock(clock),
                log: LogWriter(level: .error, format: .text), monitor: monitor))
        let log = directory.path("outbox.sqlite-wal")
        await agent.reporter.process(.fix(.sample(0)))
        #expect(try FileSystem.fileSize(at: log) > 0)
        #expect(try await !agent.truncateLogIfPrivate(unless: true))
        try directory.write([], to: "private")
        await agent.reporter.readPrivateSwitch()
        #expect(try await agent.truncateLogIfPrivate(unless: false))
        #expect(try FileSystem.fileSize(at: log) == 0)
        await agent.close()
    }
}
