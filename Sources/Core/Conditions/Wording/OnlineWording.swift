package import GNSS
package import ReportedText
package import Reporting
import VehicleAuthorization

/// A finding of `waypost check --online`.
package enum OnlineFinding: Sendable, Hashable {
    /// Why the running service doesn't use the file that is checked.
    package enum OtherConfiguration: Sendable, Hashable {
        case file(String, checked: String)
        /// A reload was rejected; with the line of its condition.
        case rejectedReload(ReportedText, loadedAt: String)
        case changedSince(String, loadedAt: String)
    }

    /// The clock that a receiver's time is compared with.
    package enum Clock: Sendable, Hashable { case ownSynchronized, ownUnsynchronized, fleetEngine }

    /// A service runs and uses another configuration; `service` describes it.
    case otherConfiguration(OtherConfiguration, service: String)
    /// A service runs for another vehicle, so far as this machine shows with the file that is checked.
    case otherVehicle(String, OtherConfiguration?, service: String)
    /// Only `user` may open the outbox.
    case outboxClosed(path: String, user: String)
    /// Other programs have the receiver's serial port open.
    case otherReaders(device: String, DeviceHolders)
    case noAnswer(within: Duration)
    /// There was no fix in time; `cause` is a warning that explains it.
    case noFix(ReceiverState, cause: ReceiverWarning?, within: Duration)
    /// The service that has the receiver has no recent fix.
    case staleFix(state: ReportedText, age: Int?, isHeard: Bool)
    /// The time of the first fix, which `fix` describes, differs from a clock's; `behind` is negative if it is ahead.
    case fixTime(fix: String, behind: Duration, Clock)
    /// Fleet Engine rejects a request about the vehicle alone.
    case vehicleRejected(ReportedText)
    /// The issuer gives no token for a trip that doesn't exist.
    case tripUnknown(ReportedText)
}

extension OnlineFinding {
    /// The finding and the remedy, in one line.
    package var sentence: ReportedText { wording.sentence }

    private var wording: Wording {
        switch self {
        case .otherConfiguration(let other, let service):
            Wording("\(service); \(other.wording.cause)", other.wording.remedy)
        case .otherVehicle(let vehicle, let other, let service):
            Wording(
                "\(service), for another vehicle, \(vehicle)\(other.map { "; \($0.wording.cause)" as ReportedText } ?? "")",
                other?.wording.remedy ?? "if this vehicle should run, run systemctl restart waypost")
        case .outboxClosed(let path, let user):
            Wording("\(path) is not opened: only \(user) may", "run this as root (sudo)")
        case .otherReaders(let device, let holders):
            Wording(
                "each byte goes to one reader, and \(device) is also open in \(holders.names)", holders.remedy)
        case .noAnswer(let limit): Wording("no answer within \(limit.secondsText)", "check the receiver")
        case .noFix(let state, let cause?, let limit):
            Wording(
                "\(state.sentence()), but no fix within \(limit.secondsText): \(Condition(cause).line)",
                cause == .dateTooEarly ? "read a recorded log with receiver.type file, or with waypost replay" : "")
        case .noFix(let state, nil, let limit):
            Wording(
                "\(state.sentence()), but no fix within \(limit.secondsText)", "check the antenna's view of the sky")
        case .staleFix(let state, let age, let isHeard):
            Wording(
                """
                \(state); \(age.map { "the service had its last fix \($0) s ago" } ?? "the service has had no fix yet")
                """,
                isHeard ? "check the antenna's view of the sky" : "")
        case .fixTime(let fix, let lag, let clock):
            Wording(
                "\(fix); its time is \(lag.spoken) \(lag > .zero ? "behind" : "ahead of") \(clock.words)",
                Self.isZone(lag) ? "it may state local time: set it to UTC" : clock.remedy)
        case .vehicleRejected(let cause):
            Wording(
                cause,
                "correct vehicle.providerId, vehicle.vehicleId, vehicle.service or upload.endpoint")
        case .tripUnknown(let error):
            Wording(
                "\(error); the trip asked for does not exist", "try one that does: waypost token --trip ID")
        }
    }

    /// Whether `difference` is that of a time zone, to a minute: they are quarters of an hour apart, up to 14 hours.
    private static func isZone(_ difference: Duration) -> Bool {
        let seconds = Swift.abs(difference.components.seconds)
        let quarter = Int64(900)
        let rest = seconds % quarter
        return (1740...50_460).contains(seconds) && min(rest, quarter - rest) <= 60
    }
}

extension OnlineFinding.OtherConfiguration {
    fileprivate var wording: Wording {
        switch self {
        case .file(let other, let checked):
            Wording(
                "it uses another file, \(other), and not \(checked)",
                "check that one (--config \(other)), or name this one in its unit (systemctl edit waypost)")
        case .rejectedReload(let line, let loadedAt):
            Wording("it uses the configuration loaded at \(loadedAt); \(line)", "")
        case .changedSince(let file, let loadedAt):
            Wording(
                "it uses the configuration loaded at \(loadedAt), and \(file) has been changed since",
                """
                run systemctl reload waypost (for new credentials or environment values, systemctl restart waypost)
                """)
        }
    }
}

extension OnlineFinding.Clock {
    fileprivate var words: ReportedText {
        switch self {
        case .ownSynchronized: "this machine's, which is synchronized"
        case .ownUnsynchronized: "this machine's, which is not synchronized"
        case .fleetEngine: "Fleet Engine's"
        }
    }

    fileprivate var remedy: ReportedText {
        switch self {
        case .ownSynchronized, .fleetEngine: "switch the receiver off and on, then update its firmware, or replace it"
        case .ownUnsynchronized: "one of the two is wrong: set this machine's clock (timedatectl), and check again"
        }
    }
}
