import FleetEngine
import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
import SQLiteOutbox
import TimeAndChance

/// What `waypost check --online` tries, with the code that the service uses.
package enum OnlineCheck: String, Sendable, CaseIterable {
    case outbox, receiver, token
    case fleetEngine = "Fleet Engine"

    /// What came of one check: what is there, or what is wrong and what to do.
    package struct Finding: Sendable, Hashable {
        package let isGood: Bool
        package let text: String

        static func good(_ text: String) -> Self { Self(isGood: true, text: text) }
        static func bad(_ text: String) -> Self { Self(isGood: false, text: text) }
    }

    /// How long a receiver may take to its first fix here, once it is heard.
    private static let patience = Duration.seconds(15)

    /// Tries it; takes seconds at most.
    package func run(_ configuration: Configuration) async -> Finding {
        switch self {
        case .outbox: await Self.outbox(configuration)
        case .receiver: await Self.receiver(configuration)
        case .token: await Self.token(configuration)
        case .fleetEngine: await Self.vehicle(configuration)
        }
    }

    private static func outbox(_ configuration: Configuration) async -> Finding {
        let path = configuration.outbox.path
        guard configuration.expectedUser == EffectiveUser.current else {
            return .good("\(path) is not opened: only \(FileStatus.words(configuration.expectedUser)) may")
        }
        do {
            let outbox = try await SQLiteOutbox.open(configuration.outbox)
            let ledger = try await outbox.ledger()
            try await outbox.close()
            return .good("\(path) opens, \(ledger.pending) updates pending")
        } catch {
            guard let holder = error.holder else { return .bad(error.description) }
            return .good("in use by the running service: \(path): in use by \(holder)")
        }
    }

    private static func receiver(_ configuration: Configuration) async -> Finding {
        let source = configuration.makeSource(present: { UTCTime.synchronizedSystem ?? Release.date })
        let (last, failure) = (Locked<ReceiverState?>(nil), Locked<String?>(nil))
        let (events, sink) = AsyncStream.makeStream(of: FixSourceEvent.self, bufferingPolicy: .bufferingNewest(64))
        return await withTaskGroup(of: Void.self, returning: Finding.self) { group in
            group.addTask {
                do throws(FixSourceError) {
                    try await source.run { sink.yield($0) }
                } catch {
                    if error.code != .cancelled { failure.withLock { $0 = error.detail } }
                }
                sink.finish()
            }
            group.addTask {
                let clock = MonotonicClock(ContinuousClock())
                await clock.sleep(for: patience)
                // The line is open, and its rate still looked for.
                if case .starting? = last.withLock({ $0 }) { await clock.sleep(for: BaudRate.longestSearch) }
                sink.finish()
            }
            for await event in events {
                if case .state(let state) = event { last.withLock { $0 = state } }
                guard case .fix(let fix) = event else { continue }
                group.cancelAll()
                let quality = fix.satellitesUsed.map { "\($0) satellites" } ?? "quality \(fix.quality.rawValue)"
                return .good("fix of \(fix.timeOfFix), \(quality)\(discovery(last.withLock { $0 }))")
            }
            group.cancelAll()
            if let failure = failure.withLock({ $0 }) { return .bad(failure) }
            guard let last = last.withLock({ $0 }) else { return .bad("no answer within \(patience)") }
            if case .receiving = last { return .bad("\(last), but no fix yet; check the antenna's view of the sky") }
            return .bad(last.description)
        }
    }

    /// What the receiver's line proved to be, if that had to be found out.
    private static func discovery(_ state: ReceiverState?) -> String {
        if case .receiving(_, let detail)? = state, !detail.isEmpty { ", \(detail)" } else { "" }
    }

    private static func token(_ configuration: Configuration) async -> Finding {
        do {
            let report = try await TokenReport.fetch(configuration)
            return report.verdict.fits ? .good(report.summary) : .bad(report.summary)
        } catch { return .bad(error.detail) }
    }

    private static func vehicle(_ configuration: Configuration) async -> Finding {
        do {
            let token = try await TokenReport.fetch(configuration).rawToken
            let request = HTTPRequest(
                .get, try configuration.vehicle.url(at: configuration.upload.endpoint),
                headers: HTTPHeaders(["Authorization": "Bearer " + token]),
                limits: HTTPLimits(total: configuration.upload.timeout))
            let response = try await configuration.makeTransport().send(request)
            switch UploadOutcome(of: response, to: request, for: configuration.vehicle) {
            case .delivered: return .good("\(configuration.upload.endpoint.origin) knows \(configuration.vehicle)")
            case .hold(let reason) where response.status == 404:
                return .bad("\(reason); a driver token cannot create a vehicle, your backend must")
            case let outcome: return .bad(outcome.reason.description)
            }
        } catch { return .bad("\(error)") }
    }
}
