import Conditions
import LinuxPlatform
import ReportedText
import Reporting
import TrackDrawing

/// A narrator that explains on standard error what happens while the demo runs.
final class DemoNarrator: ReportingObserver {
    private struct State {
        var hasDelivered = false
        var failures = 0
        var accepted = 0
        var delivered = 0
        var isClosed = false
    }

    private let clock = MonotonicClock(ContinuousClock())
    private let write: @Sendable (String) -> Void
    private let state = Locked(State())

    init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    func open(page: String, drive: String, length: Duration, speed: Double) {
        let extent =
            length < .seconds(120)
            ? Int(length.components.seconds).counted("second")
            : Int((length / .seconds(60)).rounded()).counted("minute")
        let pace = speed < 1.5 ? "in real time" : "at \(Int(speed.rounded())) times real speed"
        write(
            """
            Waypost demo: \(drive), \(extent), played \(pace).
            Fleet Engine and the token issuer are simulated on this machine. Watch the van: \(page)

            """)
        say("reading the receiver; an update is due every 5 s of the drive")
    }

    func narrateOutage(begins: Bool) {
        if begins {
            say("OUTAGE: Fleet Engine is unreachable; the drive continues and updates are kept in the outbox")
            return
        }
        let waiting = state.withLock { $0.accepted - $0.delivered }
        say("the outage is over; \(waiting.counted("update")) pending")
    }

    /// Ends the narration. Later events print nothing.
    func close() { state.withLock { $0.isClosed = true } }

    func observe(_ event: ReportingEvent) {
        switch event {
        case .accepted: state.withLock { $0.accepted += 1 }
        case .delivered(let batch, _, _): narrateDelivery(of: batch)
        case .failed(let outcome, _, _): narrateFailure(outcome)
        case .receiver(.ended): say("the drive has ended")
        default: break
        }
    }

    private func narrateDelivery(of batch: UploadBatch) {
        let before = state.withLock { state in
            defer {
                state.hasDelivered = true
                state.failures = 0
                state.delivered += batch.pending.count
            }
            return state
        }
        if !before.hasDelivered { say("token fetched, first update delivered") }
        if before.failures > 0 {
            say(
                "delivery works again: the newest position first, with \(batch.past.count.counted("older update")) in the same request"
            )
        }
    }

    private func narrateFailure(_ outcome: DeliveryOutcome) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        guard failures == 1, let condition = Condition(outcome) else { return }
        say("not delivered: \(condition.line); retrying with increasing delays")
    }

    private func say(_ text: String) {
        guard state.withLock({ !$0.isClosed }) else { return }
        let time = FigureText.decimal(clock.now / .seconds(1), places: 1)
        let indent = String(repeating: " ", count: max(0, 5 - time.count))
        write("\(indent)\(time) s  \(text)")
    }
}
