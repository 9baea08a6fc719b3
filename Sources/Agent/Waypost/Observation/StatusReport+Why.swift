import LocationReporting
package import TimeAndChance

extension StatusReport {
    /// Why nothing is sent, or that all is well, in one sentence; `now` is the present, for the times in it.
    package func why(at now: UTCTime) -> String {
        if let trouble = delivery.trouble {
            let since = delivery.troubleSeconds.map { Self.moment($0, before: now) } ?? "now"
            let next =
                delivery.nextAttemptSeconds.map { ", the next attempt is in \(Duration.seconds($0).spoken)" } ?? ""
            return "Nothing has been sent since \(since): \(trouble)\(next); \(safety)."
        }
        if let receiver = receiverTrouble(at: now) { return receiver }
        guard let delivered = delivery.secondsSinceDelivery else {
            return "Nothing has been sent yet: the service started \(Duration.seconds(uptimeSeconds).spoken) ago, and "
                + "its first update is on its way; \(safety)."
        }
        if delivered > Self.longestSilence {
            return "Nothing has been sent since \(Self.moment(delivered, before: now)), and no stage has reported why; "
                + "\(safety); look at the log."
        }
        let rest = ledger.pending > 1 ? "\(Self.grouped(ledger.pending)) updates are pending" : "nothing is pending"
        return "All is well: the last delivery was \(Duration.seconds(delivered).spoken) ago, \(rest)."
    }

    /// A heartbeat goes out each minute, and may fail twice before anybody should wonder.
    private static let longestSilence = 180
    /// A receiver that is well gives a fix each second or so.
    private static let longestWithoutFix = 90

    private func receiverTrouble(at now: UTCTime) -> String? {
        let state = receiver.state
        let last = receiver.secondsSinceFix.map { Self.moment($0, before: now) }
        switch ReceiverState.Kind(rawValue: receiver.kind) {
        case .starting where last == nil:
            return "There is no position yet: \(state); \(repetition)."
        case .waiting, .noPosition, .ended:
            return "There is no new position since \(last ?? "the start"): \(state); \(repetition)."
        case .receiving, .starting, nil:
            guard (receiver.secondsSinceFix ?? uptimeSeconds) > Self.longestWithoutFix else { return nil }
            let cause =
                refusedFixes.max { ($0.value, $1.key) < ($1.value, $0.key) }
                .map { "fixes arrive but are rejected (\(Self.grouped(Int64($0.value))) times \($0.key))" } ?? state
            return "There is no new position since \(last ?? "the start"): \(cause); \(repetition)."
        }
    }

    /// What becomes of the last known position while there is no newer one.
    private var repetition: String {
        delivery.secondsSinceDelivery == nil
            ? safety : "the last known one is repeated each minute, and \(safety)"
    }

    private var safety: String {
        switch ledger.pending {
        case 0: "no update is pending"
        case 1: "1 update is safe"
        default: "\(Self.grouped(ledger.pending)) updates are safe"
        }
    }

    /// `09:14 UTC`, with its date when that is another day's.
    private static func moment(_ seconds: Int, before now: UTCTime) -> String {
        let time = now.advanced(by: .zero - .seconds(seconds))
        let text = time.description
        let (date, clock) = (text.prefix(10), text.dropFirst(11).prefix(5))
        return time.civilDate == now.civilDate ? "\(clock) UTC" : "\(date) \(clock) UTC"
    }

    /// `1,204`.
    static func grouped(_ number: Int64) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
