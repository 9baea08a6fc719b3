import ReportedText
import Reporting
package import TimeAndChance

/// Whether positions reach Fleet Engine, and in a few sentences why not and what to do.
package struct Diagnosis: Sendable, Hashable {
    /// Whether nothing keeps positions from arriving.
    package let isWell: Bool
    package let text: String

    package init(isWell: Bool, text: String) { (self.isWell, self.text) = (isWell, text) }
}

extension StatusReport {
    /// What a person should know; `now` is the present, for the times in it.
    ///
    /// Of several troubles the one that began first comes first, for no other can have caused it.
    package func why(at now: UTCTime) -> Diagnosis {
        let troubles = self.troubles(at: now).map(\.text)
        let aside = asides(at: now)
        guard let first = troubles.first else {
            return Diagnosis(isWell: true, text: sentences([privacy(at: now) ?? wellness, aside]))
        }
        let others = troubles.dropFirst().map { "Besides, " + $0.prefix(1).lowercased() + $0.dropFirst() }
        let rest = [privacy(at: now) ?? "", nextAttempt, repetition, safety, aside]
        return Diagnosis(isWell: false, text: sentences([first] + others + rest))
    }

    /// What keeps positions from arriving, or from being kept: the one that began first comes first, and of those that
    /// began together the one that a position meets first, so that it is the same each time one asks.
    package func troubles(at now: UTCTime) -> [Trouble] {
        let found = [
            receiverTrouble(at: now), receiverClockTrouble, outboxTrouble(at: now), renewalTrouble(at: now),
            deliveryTrouble(at: now),
        ]
        return found.compactMap(\.self).reduce(into: []) { troubles, trouble in
            let later = troubles.firstIndex { $0.seconds + Self.concurrence < trouble.seconds }
            troubles.insert(trouble, at: later ?? troubles.endIndex)
        }
    }

    /// A trouble for so many seconds, in whole sentences.
    package struct Trouble: Sendable, Hashable, Encodable {
        package enum Stage: String, Sendable, Hashable, Encodable { case receiver, outbox, token, delivery }

        /// Where it lies; without a token, that is the token.
        package let stage: Stage
        package let seconds: Int
        package let text: String
    }

    /// A heartbeat goes out each minute, and may fail twice before anybody should wonder.
    private static let longestSilence = 180
    /// A receiver that is well gives a fix each second or so.
    private static let longestWithoutFix = 90
    /// Troubles that began so few seconds apart began together, as those that a start meets.
    private static let concurrence = 5
    /// So many pending updates are a backlog, which takes more than the next upload.
    private static let backlog = 50
    /// The next attempt is told when it is farther off; a few seconds are over before anybody has read of them.
    private static let shortestWaitTold = 60
    /// A satellite that is heard with less has no free way to the antenna, in dB-Hz.
    private static let weakSignal = 30
    /// For so long it is told that the last run ended itself.
    private static let longestMemory = 3600

    private var positionsFlow: Bool {
        delivery.trouble == nil && (delivery.secondsSinceDelivery ?? .max) <= Self.longestSilence
    }

    /// Whether positions arrive, and earlier ones are still on their way.
    var isCatchingUp: Bool { positionsFlow && ledger.pending >= Self.backlog }

    private func sentences(_ texts: [String]) -> String { texts.filter { !$0.isEmpty }.joined(separator: " ") }

    /// `text` with one mark at its end.
    private func ended(_ text: String) -> String { text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "." }

    /// `09:14 UTC`, with its date when that is another day's.
    private static func moment(_ seconds: Int, before now: UTCTime) -> String {
        let time = now.advanced(by: .zero - .seconds(seconds))
        let text = time.description
        let (date, clock) = (text.prefix(10), text.dropFirst(11).prefix(5))
        return time.civilDate == now.civilDate ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }
}

/// What keeps positions from being had.
extension StatusReport.Receiver {
    /// As `3 days behind the present`; `nil` when its time is right as far as is known.
    package var clockDifference: String? {
        if let secondsAhead { return "\(Duration.seconds(secondsAhead).spoken) ahead of Fleet Engine's" }
        return secondsBehind.map { "\(Duration.seconds($0).spoken) behind the present" }
    }
}

extension StatusReport {
    private func receiverTrouble(at now: UTCTime) -> Trouble? {
        let seconds = receiver.secondsSinceFix ?? uptimeSeconds
        let isLate = seconds > Self.longestWithoutFix
        let cause: String
        switch ReceiverState.Kind(rawValue: receiver.kind) {
        case .ended:
            cause = "The log has been read to its end; a receiver that is to go on needs \"follow\" in its section."
        case .noPosition:
            cause = "Receiver \(receiver.state)\(reception ?? "; under a roof that is usual.\(Self.inTheOpen)")"
        case .waiting: cause = ended("Receiver \(receiver.state)")
        case .starting where receiver.secondsSinceFix == nil || isLate, nil where isLate:
            cause = ended("Receiver \(receiver.state)")
        case .receiving where receiver.rejection != nil && (isLate || receiver.secondsSinceFix == nil):
            cause = rejections
        case .receiving where isLate:
            cause =
                "\(ended("Receiver \(receiver.state)")) No sentence has brought a position"
                + (reception ?? "; check the antenna, its cable and its view of the sky.")
        case .receiving where receiver.secondsSinceFix == nil:
            cause =
                "\(ended("Receiver \(receiver.state)")) A receiver that was off takes a minute or so to its first "
                + "position, under an open sky."
        case .receiving, .starting, nil: return nil
        }
        let beginning =
            receiver.secondsSinceFix.map { "There is no new position since \(Self.moment($0, before: now))." }
            ?? "There is no position yet."
        return Trouble(stage: .receiver, seconds: seconds, text: sentences([beginning] + warnings + [cause]))
    }

    /// What the satellites that the receiver hears say of antenna and sky, behind what it does; `nil` when it tells of
    /// none, or hears them well.
    private var reception: String? {
        guard let sky = receiver.sky else { return nil }
        guard let best = sky.flatMap(\.satellites).compactMap(\.signalDecibelHertz).max(), best > 0 else {
            return ". No satellite is heard: check the antenna's plug and cable; deep in a building it passes."
        }
        guard best < Self.weakSignal else { return nil }
        return ". Satellites are heard, but weakly, with \(best) dB-Hz at best where 40 are good, as under a roof."
            + Self.inTheOpen
    }

    private static let inTheOpen = " If it stays so in the open, check the antenna's plug, cable and view of the sky."

    /// Nothing else shows it: a position of the future, or of days ago, arrives like any other.
    private var receiverClockTrouble: Trouble? {
        guard let difference = receiver.clockDifference else { return nil }
        return Trouble(
            stage: .receiver, seconds: receiver.secondsSinceFirstFix ?? 0,
            text:
                "The receiver's time is \(difference), and positions are sent with it; switch the receiver off and on, "
                + "and if that does not help, replace its firmware or itself.")
    }

    private var rejections: String {
        let remedy =
            switch receiver.rejectionKind {
            case "before_build", "in_the_future", "unconfirmed_time", "not_advancing":
                "compare the receiver's date with this host's clock"
            default: "if it does not pass, check the receiver and its antenna"
            }
        return "Fixes arrive, but are rejected; of the last one: \(receiver.rejection ?? ""); \(remedy)."
    }

    /// What the receiver says of itself, as of its antenna, is the cause more often than not.
    private var warnings: [String] {
        receiver.warnings.map { ended($0.prefix(1).uppercased() + $0.dropFirst()) }
    }
}

/// What keeps them from being stored, or sent.
extension StatusReport {
    private func outboxTrouble(at now: UTCTime) -> Trouble? {
        guard let reason = delivery.memoryOnly else { return nil }
        let seconds = delivery.memoryOnlySeconds ?? 0
        let since = Self.moment(seconds, before: now)
        let beginning =
            positionsFlow
            ? "Positions are sent, but none has been stored since \(since); the last ones are kept in memory only"
            : "The outbox has accepted no position since \(since); the last ones are kept in memory only"
        return Trouble(stage: .outbox, seconds: seconds, text: ended("\(beginning): \(reason)"))
    }

    /// The next token does not come; nothing is late yet.
    private func renewalTrouble(at now: UTCTime) -> Trouble? {
        guard let reason = delivery.renewalTrouble, let left = delivery.tokenSecondsLeft else { return nil }
        let seconds = delivery.renewalTroubleSeconds ?? 0
        return Trouble(
            stage: .token, seconds: seconds,
            text: sentences([
                ended("The token cannot be renewed since \(Self.moment(seconds, before: now)): \(reason)"),
                "The one in hand is used for \(Duration.seconds(left).spoken) more; then updates wait in the outbox.",
            ]))
    }

    private func deliveryTrouble(at now: UTCTime) -> Trouble? {
        guard let reason = delivery.trouble else { return silence(at: now) }
        let seconds = delivery.troubleSeconds ?? 0
        return Trouble(
            stage: troubledStage, seconds: seconds,
            text: sentences([ended("\(nothingSent(for: seconds, at: now)), because \(reason)"), remedy]))
    }

    /// Of a run that has sent nothing that began with its start, whatever it has met since.
    private func nothingSent(for seconds: Int, at now: UTCTime) -> String {
        delivery.secondsSinceDelivery == nil
            ? "Nothing has been sent since the service started at \(Self.moment(uptimeSeconds, before: now))"
            : "Nothing has been sent since \(Self.moment(seconds, before: now))"
    }

    /// Deliveries have ended, and no stage has told why.
    private func silence(at now: UTCTime) -> Trouble? {
        // Before the first fix there is nothing to send, however long the receiver is waited for.
        let seconds = delivery.secondsSinceDelivery ?? receiver.secondsSinceFirstFix ?? 0
        guard privateSeconds == nil, receiver.secondsSinceFix != nil, seconds > Self.longestSilence else { return nil }
        return Trouble(
            stage: .delivery, seconds: seconds,
            text:
                "\(nothingSent(for: seconds, at: now)), and no stage has reported why; look at the log "
                + "(journalctl -u waypost).")
    }

    private var troubleKind: DeliveryTrouble.Kind? {
        delivery.troubleKind.flatMap(DeliveryTrouble.Kind.init(rawValue:))
    }

    private var troubledStage: Trouble.Stage {
        switch troubleKind {
        case .token: .token
        case .outbox: .outbox
        default: .delivery
        }
    }

    /// What the reason does not say itself.
    private var remedy: String {
        switch troubleKind {
        case .token: "waypost token asks for one now and shows what comes."
        case .unreachable:
            "It is tried again by itself; if it stays so, check the vehicle's network and upload.endpoint."
        case .rejected:
            "Smaller batches are tried until the one is found; waypost outbox list shows it "
                + "then."
        // What an outbox reports names its remedy, which isn't always the disk.
        case .outbox, .tokenRejected, .retry, .throttled, .intercepted, .hold, nil: ""
        }
    }
}

/// What else is told.
extension StatusReport {
    private var wellness: String {
        guard let delivered = delivery.secondsSinceDelivery else {
            return
                "Nothing has been sent yet: the service started \(Duration.seconds(uptimeSeconds).spoken) ago, and its "
                + "first update is on its way. \(safety)"
        }
        let rest = ledger.pending == 0 ? "nothing is" : Self.subject(ledger.pending)
        let last = "the last delivery was \(Duration.seconds(delivered).spoken) ago, and \(rest) pending."
        guard isCatchingUp else { return "All is well: \(last)" }
        return "Catching up: \(last) The newest position goes first; the earlier ones follow by themselves, and there "
            + "is nothing to do."
    }

    private func privacy(at now: UTCTime) -> String? {
        privateSeconds.map { seconds in
            "The vehicle is private since \(Self.moment(seconds, before: now)): until that ends, nothing is kept, sent or "
                + "shown of where it is."
        }
    }

    /// `1 update is`, `12 updates are`.
    private static func subject(_ updates: Int64) -> String {
        "\(updates.counted("update")) \(updates == 1 ? "is" : "are")"
    }

    private var nextAttempt: String {
        guard delivery.trouble != nil, let seconds = delivery.nextAttemptSeconds, seconds >= Self.shortestWaitTold
        else { return "" }
        return "The next attempt is in \(Duration.seconds(seconds).spoken)."
    }

    /// What becomes of the last known position while there is no newer one.
    private var repetition: String {
        privateSeconds == nil && positionsFlow && receiver.kind != ReceiverState.Kind.receiving.rawValue
            ? "The last known position is repeated each minute." : ""
    }

    private var safety: String {
        guard ledger.pending == 0 else { return "\(Self.subject(ledger.pending)) safe in the outbox." }
        return delivery.memoryOnly == nil ? "No update is pending." : ""
    }

    private func asides(at now: UTCTime) -> String {
        var texts: [String] = []
        if let problem = configuration?.problem {
            let moment = Self.moment(configuration?.problemSeconds ?? 0, before: now)
            texts.append(ended("The reload of \(moment) was rejected and changed nothing: \(problem)"))
        }
        if quarantine.count > 0 {
            texts.append(
                "\(Self.subject(quarantine.count)) quarantined; waypost outbox list says why."
            )
        }
        if let outboxWarning { texts.append(ended(outboxWarning)) }
        if let stall = lastStall, uptimeSeconds < Self.longestMemory {
            texts.append(
                "The last run ended itself at \(stall.time) (\(stall.reason)); if that comes again, a device or a disk "
                    + "hangs (journalctl -k).")
        }
        return sentences(texts)
    }
}
