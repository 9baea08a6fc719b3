import GNSS
package import HTTPMessages
import LinuxPlatform
package import Reporting
package import TimeAndChance

/// Measures the requests to Fleet Engine of all vehicles of a replay, on their way through it.
package final class RequestMeter: HTTPTransport, ReportingObserver {
    private let transport: any HTTPTransport
    private let clock: MonotonicClock
    private let systemTime: (@Sendable () -> UTCTime)?
    private let state = Locked(RequestFigures())

    /// `systemTime`: the host's, where fixes carry the moment at which they are due; otherwise nobody is late.
    package init(_ transport: any HTTPTransport, clock: MonotonicClock, systemTime: (@Sendable () -> UTCTime)? = nil) {
        (self.transport, self.clock, self.systemTime) = (transport, clock, systemTime)
    }

    package var figures: RequestFigures { state.withLock { $0 } }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let begun = clock.now
        do throws(HTTPTransportError) {
            let response = try await transport.send(request)
            let took = clock.now - begun
            state.withLock { $0.answered(response.status, after: took) }
            return response
        } catch {
            state.withLock { $0.failed(error.code.rawValue) }
            throw error
        }
    }

    package func networkChanged() { transport.networkChanged() }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix):
            guard let systemTime else { return }
            let lag = fix.timeOfFix.duration(to: systemTime())
            state.withLock { $0.longestLag = max($0.longestLag ?? .zero, lag) }
        case .notPrepared: state.withLock { $0.failed("noToken") }
        default: break
        }
    }
}

/// How requests fared: how long their answers took, and how many failed of what.
package struct RequestFigures: Sendable, Hashable {
    /// How many seconds they took, to a twentieth; none takes longer than any time limit.
    private var seconds = Distribution(from: 0.0001, to: 600, step: 1.05)
    /// By status, or by what kept the answer from coming; `noToken` where there was nothing to ask with.
    package private(set) var failures: [String: Int] = [:]
    /// How much too late a fix was read at most; `nil` where that is not known.
    package fileprivate(set) var longestLag: Duration?

    package init() {}

    package var answers: Int { seconds.count }
    package var longestAnswer: Duration { .seconds(seconds.most) }

    /// An answer came after `duration`.
    package mutating func answered(_ status: Int, after duration: Duration) {
        seconds.add(duration / .seconds(1))
        if status != 200 { failures["\(status)", default: 0] += 1 }
    }

    /// None came, for this reason.
    package mutating func failed(_ reason: String) { failures[reason, default: 0] += 1 }

    /// Within what time so many of all answers came, to a twentieth; `nil` before the first.
    package func time(of share: Double) -> Duration? { seconds.value(of: share).map { .seconds($0) } }

    /// Failures in words, the most frequent first, as `12 x 503, 3 x timedOut`; `nil` when there are none.
    package var failuresInWords: String? { Self.words(for: failures) }

    /// The same of counted `failures`.
    package static func words(for failures: [String: Int]) -> String? {
        let sorted = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.isEmpty ? nil : sorted.map { "\($0.value) x \($0.key)" }.joined(separator: ", ")
    }
}
