import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndRandomness

/// A log of normal events: the receiver's states, the first delivery and, at debug level, every update. Faults aren't
/// logged here, because they are conditions, which `AgentMonitor` logs.
package final class EventLog: ReportingObserver {
    private struct State {
        var firstDelivery: FirstDelivery
        var receiver: ReceiverState?
        /// The times within the last `stateWindow` at which a state of the receiver was logged.
        var loggedStateTimes: [Duration] = []
    }

    /// The maximum number of receiver states that are logged within `stateWindow`. It keeps an intermittent receiver
    /// from filling the log.
    private static let maximumLoggedStates = 6
    private static let stateWindow = Duration.seconds(600)

    private let log: LogWriter
    private let clock: MonotonicClock
    private let state: Locked<State>
    /// The level at which an event that concerns one vehicle is logged.
    private let singleVehicleLevel: LogLevel

    /// Creates a log of events.
    ///
    /// - Parameters:
    ///   - log: receives the lines.
    ///   - clock: the clock.
    ///   - logsFirstDelivery: whether to log the first delivery, which shows that a service works.
    ///   - servesManyVehicles: whether the events come from many vehicles. If so, the events of one vehicle are logged
    ///     at debug level.
    package init(
        log: LogWriter, clock: MonotonicClock, logsFirstDelivery: Bool = false, servesManyVehicles: Bool = false
    ) {
        self.log = log
        self.clock = clock
        singleVehicleLevel = servesManyVehicles ? .debug : .info
        state = Locked(State(firstDelivery: FirstDelivery(isLogged: !logsFirstDelivery)))
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .receiver(let state): logReceiverState(state)
        case .tooSoon(let fix):
            log.write(.debug, "fix of \(fix.timeOfFix) not reported: the last request was sent less than 5 s ago")
        case .accepted(let stored):
            log.write(.debug, "accepted update \(stored.sequence) of \(stored.update.timeOfFix)")
        case .delivered(let batch, let traffic, let took):
            log.write(
                .debug,
                "delivered \(batch.pending.count.counted("update")) in \(took), \(traffic.bytesSent) bytes sent, "
                    + "\(traffic.bytesReceived) received")
        case .waiting(let delay): log.write(.debug, "next attempt in \(delay)")
        case .announced(let presence, _): log.write(singleVehicleLevel, "vehicle is \(presence.stateName)")
        case .withheld: log.write(.debug, "fix withheld: private mode is on, or was on a moment ago")
        default: break
        }
        let now = clock.now
        if let line = state.withLock({ $0.firstDelivery.line(after: event, at: now) }) { log.write(.info, line) }
    }

    /// Logs a new state of the receiver. A state that is a fault isn't logged here, because it is also a condition.
    private func logReceiverState(_ receiver: ReceiverState) {
        let now = clock.now
        let isLogged = state.withLock { state in
            let isNew = exchange(&state.receiver, with: receiver) != receiver
            guard isNew, receiver.kind == .starting || receiver.kind == .receiving else { return false }
            state.loggedStateTimes.removeAll { now - $0 >= Self.stateWindow }
            guard state.loggedStateTimes.count < Self.maximumLoggedStates else { return false }
            state.loggedStateTimes.append(now)
            return true
        }
        if isLogged { log.write(.info, "\(receiver)") }
    }
}

extension Presence {
    /// The state in upper case, as it appears in Fleet Engine's documentation.
    package var stateName: String { rawValue.uppercased() }
}

/// A detector of the first delivery of a run. It describes the delivery with the time from the fix to its
/// acknowledgement.
private struct FirstDelivery {
    /// The time that a fix states, and the monotonic time at which it arrived.
    private struct ArrivedFix {
        let timeOfFix: UTCTime
        let arrival: Duration
    }

    var isLogged: Bool
    private var fix: ArrivedFix?
    /// The fixes from which the first and the latest update were made, and the fix of the update that is being sent.
    private var firstUpdate, update, sentUpdate: ArrivedFix?

    init(isLogged: Bool) { self.isLogged = isLogged }

    mutating func line(after event: ReportingEvent, at now: Duration) -> String? {
        guard !isLogged else { return nil }
        switch event {
        case .fix(let new): fix = ArrivedFix(timeOfFix: new.timeOfFix, arrival: now)
        case .accepted, .notStored:
            update = fix
            firstUpdate = firstUpdate ?? fix
        case .uploading(let batch): sentUpdate = update?.timeOfFix == batch.last.timeOfFix ? update : nil
        case .delivered(let batch, _, _):
            isLogged = true
            // The delivered update belongs to this run if it isn't older than the run's first update, even if newer
            // updates exist.
            let isOfThisRun = firstUpdate.map { $0.timeOfFix <= batch.last.timeOfFix } ?? false
            let origin = isOfThisRun ? "" : ", from the previous run"
            let delay = sentUpdate.map { ", \(Self.delayText(now - $0.arrival)) after its fix" } ?? origin
            let others = batch.pending.count - (batch.lastIsPending ? 1 : 0)
            let rest = others > 0 ? ", together with \(others.counted("earlier one"))" : ""
            return "first position of this run delivered\(delay)\(rest)"
        default: break
        }
        return nil
    }

    /// Returns the delay as text, such as `40 ms` or `12 s`.
    private static func delayText(_ delay: Duration) -> String {
        delay < .seconds(2) ? "\(Int(delay / .milliseconds(1))) ms" : delay.humanReadable
    }
}
