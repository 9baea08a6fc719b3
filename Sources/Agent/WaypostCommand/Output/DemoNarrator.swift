import FleetEngine
import LinuxPlatform
import LocationReporting

/// Tells in words what happens in the demo.
final class DemoNarrator: ReportingObserver {
    private struct State {
        var hasDelivered = false
        var failures = 0
        var accepted = 0
        var delivered = 0
        var isClosed = false
    }

    private let clock: MonotonicClock
    private let state = Locked(State())

    init(clock: MonotonicClock) { self.clock = clock }

    func open(page: String, drive: String, length: Duration, speed: Double) {
        Terminal.say(
            """
            Waypost demo: \(drive), \(Int((length / .seconds(60)).rounded())) minutes, played \(Int(speed.rounded())) times as fast.
            Fleet Engine and the token issuer are simulated on this machine. Watch the van: \(page)

            """)
        tell("the receiver is read; an update is due every 5 s of the drive")
    }

    func outage(begins: Bool) {
        if begins {
            tell("OUTAGE: Fleet Engine cannot be reached; the drive goes on, updates wait in the outbox")
            return
        }
        let waiting = state.withLock { $0.accepted - $0.delivered }
        tell("the outage is over; \(waiting) updates wait")
    }

    /// Nothing more is told.
    func close() { state.withLock { $0.isClosed = true } }

    func observe(_ event: ReportingEvent) {
        switch event {
        case .accepted: state.withLock { $0.accepted += 1 }
        case .delivered(let batch, _, _): delivered(batch)
        case .failed(let outcome, _): failed(outcome)
        case .receiver(.ended): tell("the drive has ended")
        default: break
        }
    }

    private func delivered(_ batch: UploadBatch) {
        let (isFirst, wasFailing) = state.withLock { state in
            defer {
                (state.hasDelivered, state.failures) = (true, 0)
                state.delivered += batch.pending.count
            }
            return (!state.hasDelivered, state.failures > 0)
        }
        if isFirst { tell("a token was fetched and the first update is delivered") }
        if wasFailing {
            tell("delivered again: the newest position first, with \(batch.past.count) older ones in the same request")
        }
    }

    private func failed(_ outcome: UploadOutcome) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        if failures == 1 { tell("not delivered: \(outcome.reason); trying again with growing pauses") }
    }

    private func tell(_ text: String) {
        guard state.withLock({ !$0.isClosed }) else { return }
        let tenths = Int(clock.now / .milliseconds(100))
        let time = "\(tenths / 10).\(tenths % 10)"
        Terminal.say("\(String(repeating: " ", count: max(0, 5 - time.count)))\(time) s  \(text)")
    }
}
