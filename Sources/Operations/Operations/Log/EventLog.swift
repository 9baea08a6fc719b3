import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndChance

/// Writes the log lines about what goes as it should: the receiver's states, the first delivery, and at debug level
/// every update. What goes wrong is a condition, which `AgentMonitor` logs.
package final class EventLog: ReportingObserver {
    private struct State {
        var first: FirstDelivery
        var receiver: ReceiverState?
        /// When states of the receiver were logged lately.
        var changes: [Duration] = []
    }

    /// How many states of a receiver that comes and goes are logged within `span`.
    private static let maximumChanges = 6
    private static let span = Duration.seconds(600)

    private let log: LogWriter
    private let clock: MonotonicClock
    private let state: Locked<State>
    /// The level of what one vehicle does by itself.
    private let levelOfOneVehicle: LogLevel

    /// Creates a log of events.
    ///
    /// - Parameters:
    ///   - log: receives the lines.
    ///   - clock: the clock.
    ///   - tellsFirstDelivery: whether the first delivery is logged, which is the success of a service.
    ///   - isOfMany: whether the events are of many vehicles, so that those of one are routine.
    package init(
        log: LogWriter, clock: MonotonicClock, tellsFirstDelivery: Bool = false, isOfMany: Bool = false
    ) {
        self.log = log
        self.clock = clock
        levelOfOneVehicle = isOfMany ? .debug : .info
        state = Locked(State(first: FirstDelivery(isTold: !tellsFirstDelivery)))
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .receiver(let receiver): note(receiver)
        case .tooSoon(let fix):
            log.write(.debug, "fix of \(fix.timeOfFix) not reported: the last request began less than 5 s ago")
        case .accepted(let stored):
            log.write(.debug, "accepted update \(stored.sequence) of \(stored.update.timeOfFix)")
        case .delivered(let batch, let traffic, let took):
            log.write(
                .debug,
                "delivered \(batch.pending.count) in \(took), \(traffic.bytesSent) bytes sent, "
                    + "\(traffic.bytesReceived) received")
        case .waiting(let delay): log.write(.debug, "next attempt in \(delay)")
        case .announced(let presence, _): log.write(levelOfOneVehicle, "vehicle is \(presence.words)")
        case .withheld: log.write(.debug, "fix withheld: private mode is on, or was a moment ago")
        default: break
        }
        let now = clock.now
        if let line = state.withLock({ $0.first.line(after: event, at: now) }) { log.write(.info, line) }
    }

    /// What is wrong with the receiver is a condition; its other states are logged when they are new.
    private func note(_ receiver: ReceiverState) {
        let now = clock.now
        let isLogged = state.withLock { state in
            let isNew = exchange(&state.receiver, with: receiver) != receiver
            guard isNew, receiver.kind == .starting || receiver.kind == .receiving else { return false }
            state.changes.removeAll { now - $0 >= Self.span }
            guard state.changes.count < Self.maximumChanges else { return false }
            state.changes.append(now)
            return true
        }
        if isLogged { log.write(.info, "\(receiver)") }
    }
}

extension Presence {
    /// The name that operators know.
    package var words: String { rawValue.uppercased() }
}

/// The first delivery of a run, with the time from its fix to the acknowledgement.
private struct FirstDelivery {
    /// A fix by its time, and when it came.
    private struct Moment {
        let time: UTCTime
        let at: Duration
    }

    var isTold: Bool
    private var fix: Moment?
    /// The first and the last fix of which an update was made, and the one on its way.
    private var firstUpdate, update, sent: Moment?

    init(isTold: Bool) { self.isTold = isTold }

    mutating func line(after event: ReportingEvent, at now: Duration) -> String? {
        guard !isTold else { return nil }
        switch event {
        case .fix(let new): fix = Moment(time: new.timeOfFix, at: now)
        case .accepted, .notStored:
            update = fix
            firstUpdate = firstUpdate ?? fix
        case .uploading(let batch): sent = update?.time == batch.last.timeOfFix ? update : nil
        case .delivered(let batch, _, _):
            isTold = true
            // One that a newer one has overtaken on its way is of this run, too.
            let isOfThisRun = firstUpdate.map { $0.time <= batch.last.timeOfFix } ?? false
            let origin = isOfThisRun ? "" : ", one of the run before"
            let delay = sent.map { ", \(Self.text(now - $0.at)) after its fix" } ?? origin
            let others = batch.pending.count - (batch.lastIsPending ? 1 : 0)
            let rest = others > 0 ? ", and \(others.counted("earlier one")) with it" : ""
            return "the first position of this run is delivered\(delay)\(rest)"
        default: break
        }
        return nil
    }

    /// `40 ms`, `12 s`.
    private static func text(_ delay: Duration) -> String {
        delay < .seconds(2) ? "\(Int(delay / .milliseconds(1))) ms" : delay.spoken
    }
}
