import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// A vehicle whose updates go to a service other than Fleet Engine: only one adapter differs.
@Suite(.timeLimit(.minutes(1))) struct OtherDelivery {
    /// A service that keeps its updates as JSON lines, and rejects its first permit.
    private final class JSONLines: Delivery {
        private struct Permit: DeliveryPermit {
            let number: Int
            let service: JSONLines

            func deliver(
                _ batch: UploadBatch, as presence: Presence, secondsSinceFirstSent seconds: Int?
            ) async -> DeliveryResult {
                guard number > 1 else { return DeliveryResult(.prepareAgain(.sample("the first session is over"))) }
                service.write(batch.past.map(\.update) + [batch.last])
                return DeliveryResult(.delivered, traffic: Traffic(bytesSent: 100))
            }
        }

        private let state = Locked((sessions: 0, lines: [String]()))

        var lines: [String] { state.withLock { $0.lines } }
        let hasPresence = true

        func prepare() async throws(DeliveryFault) -> any DeliveryPermit {
            let number = state.withLock { state in
                state.sessions += 1
                return state.sessions
            }
            return Permit(number: number, service: self)
        }

        func announce(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
            state.withLock { $0.lines.append(#"{"presence":"\#(presence)"}"#) }
            return DeliveryResult(.delivered)
        }

        func networkReturned() async {}

        func write(_ updates: [LocationUpdate]) {
            let written = updates.map { update in
                let line = JSONValue.object([
                    "time": .string("\(update.timeOfFix)"), "latitude": .number(update.latitude),
                ])
                return String(decoding: line.utf8, as: UTF8.self)
            }
            state.withLock { $0.lines += written }
        }
    }

    private struct Drive: FixSource {
        func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
            for second in 0..<60 { await deliver(.fix(.sample(Double(second), north: Double(second) * 10))) }
        }
    }

    @Test func receivesEveryUpdateAndState() async throws {
        let directory = try TemporaryDirectory()
        var configuration = try Configuration(file: try ServiceSetup().write(in: directory))
        configuration.upload.backlogUpdatesPerSecond = nil
        let service = JSONLines()
        let clock = MonotonicClock(ManualClock())
        let agent = try await VehicleAgent(
            configuration,
            VehicleAgent.Parts(
                source: Drive(), makeDelivery: { _ in service }, expectedFix: nil, spacing: .recordedLog,
                latestFix: { nil }, clock: clock, log: LogWriter(level: .error, format: .text),
                monitor: AgentMonitor(clock: clock)))
        try await agent.run()
        let ledger = try await agent.summary().ledger
        #expect(ledger.accepted > 5 && ledger.delivered == ledger.accepted)
        // The newest update is sent again as the heartbeat.
        #expect(Set(service.lines).count == Int(ledger.accepted))
        #expect(service.lines.allSatisfy { $0.hasPrefix(#"{"latitude":50"#) })
        await agent.shutDown()
        #expect(service.lines.last == #"{"presence":"offline"}"#)
    }
}
