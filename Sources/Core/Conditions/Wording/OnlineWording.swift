package import GNSS
package import ReportedText
package import Reporting
import VehicleAuthorization

/// A finding of `waypost check --online`.
package enum OnlineFinding: Sendable, Hashable {
    /// The reason why the running service doesn't use the configuration being checked.
    package enum OtherConfiguration: Sendable, Hashable {
        case otherFile(String, checked: String)
        /// A reload was rejected because of these problems. The service still uses the configuration of `loadedAt`.
        case rejectedReload([ReportedText], loadedAt: String)
        case fileChanged(String, loadedAt: String)
    }

    /// The clock that the receiver's time is compared with.
    package enum Clock: Sendable, Hashable { case ownSynchronized, ownUnsynchronized, fleetEngine }

    /// A service is running with another configuration; `service` describes the service.
    case otherConfiguration(OtherConfiguration, service: String)
    /// A service is running, but for another vehicle. The second value is the reason; it is `nil` if the service, as
    /// far as is known, uses the checked file.
    case otherVehicle(String, OtherConfiguration?, service: String)
    /// Only `user` may open the outbox.
    case outboxForbidden(path: String, user: String)
    /// Other programs have the receiver's serial port open.
    case otherReaders(device: String, DeviceHolders)
    case noAnswer(within: Duration)
    /// There was no fix within the limit; `cause` is a warning that explains its absence.
    case noFix(ReceiverState, cause: ReceiverWarning?, within: Duration)
    /// The service that reads the receiver has no recent fix. `kind` is the kind of `state`; `nil` if it is unknown.
    case staleFix(state: ReportedText, ReceiverState.Kind?, age: Int?)
    /// The time of the first fix differs from a clock's. `fix` describes the fix. `behind` is negative if the fix is
    /// ahead of the clock.
    case wrongFixTime(fix: String, behind: Duration, Clock)
    /// Fleet Engine rejects a request that concerns only the vehicle, so the vehicle's settings or the endpoint are
    /// wrong.
    case vehicleRejected(ReportedText)
    /// The issuer returns no token for a trip that doesn't exist.
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
        case .outboxForbidden(let path, let user):
            Wording("\(path) was not opened: only \(user) can open it", "run this command as root (sudo)")
        case .otherReaders(let device, let holders):
            Wording(
                "\(device) is also open in \(holders.names); each byte reaches only one reader", holders.remedy)
        case .noAnswer(let limit):
            Wording("no answer within \(limit.secondsText)", "\(text: ConditionCode.receiverUnavailable.remedy)")
        case .noFix(.waiting(let source, let fault), _, _):
            Wording("\(source): \(fault.wording().cause)", fault.wording().remedy)
        case .noFix(let state, let cause?, let limit):
            Wording(
                "\(state.sentence()), but no fix within \(limit.secondsText): \(Condition(cause).line)",
                cause == .dateTooEarly ? "to read a recorded log, set receiver.type to file or use waypost replay" : "")
        case .noFix(let state, nil, let limit):
            Wording(
                "\(state.sentence()), but no fix within \(limit.secondsText)",
                state.kind == .starting
                    ? "\(text: ConditionCode.receiverUnavailable.remedy)" : Condition.noPosition.remedy)
        case .staleFix(let state, _, let age):
            Wording(
                """
                \(state); \(age.map { "the service had its last fix \($0) s ago" } ?? "the service has had no fix yet")
                """,
                code == .noPosition ? Condition.noPosition.remedy : "")
        case .wrongFixTime(let fix, let lag, let clock):
            Wording(
                "\(fix); its time is \(lag.humanReadable) \(lag > .zero ? "behind" : "ahead of") \(clock.words)",
                Self.isTimeZoneOffset(lag) ? "the receiver may send local time: set it to UTC" : clock.remedy)
        case .vehicleRejected(let cause):
            Wording(
                cause,
                "correct vehicle.providerId, vehicle.vehicleId, vehicle.service or upload.endpoint")
        case .tripUnknown(let error):
            Wording(
                "\(error); the requested trip does not exist", "try an existing trip: waypost token --trip ID")
        }
    }

    /// Whether `difference` is a time zone's offset, give or take a minute. Offsets are multiples of a quarter of an
    /// hour, from half an hour to 14 hours.
    private static func isTimeZoneOffset(_ difference: Duration) -> Bool {
        let seconds = Swift.abs(difference.components.seconds)
        let quarter = Int64(900)
        let rest = seconds % quarter
        return (1740...50_460).contains(seconds) && min(rest, quarter - rest) <= 60
    }
}

extension OnlineFinding.OtherConfiguration {
    fileprivate var wording: Wording {
        switch self {
        case .otherFile(let other, let checked):
            Wording(
                "the service uses \(other) instead of \(checked)",
                "check that file (--config \(other)), or set \(checked) in the service's unit (systemctl edit waypost)")
        case .rejectedReload(let problems, let loadedAt):
            Wording(
                """
                it uses the configuration loaded at \(loadedAt), because a reload was rejected: \
                \(text: problems.map(\.description).joined(separator: "; "))
                """, "\(text: ConditionCode.reloadRejected.remedy)")
        case .fileChanged(let file, let loadedAt):
            Wording(
                "it uses the configuration loaded at \(loadedAt), but \(file) has been changed since",
                """
                run systemctl reload waypost (for new credentials or environment values, or if the receiver is stdin or \
                a file without follow, systemctl restart waypost)
                """)
        }
    }
}

extension OnlineFinding.Clock {
    fileprivate var words: ReportedText {
        switch self {
        case .ownSynchronized: "this machine's clock, which is synchronised"
        case .ownUnsynchronized: "this machine's clock, which is not synchronised"
        case .fleetEngine: "Fleet Engine's clock"
        }
    }

    fileprivate var remedy: ReportedText {
        switch self {
        case .ownSynchronized, .fleetEngine:
            "\(text: ConditionCode.receiverTimeWrong.remedy)"
        case .ownUnsynchronized: "one of the two is wrong: set this machine's clock (timedatectl), and check again"
        }
    }
}

extension OnlineFinding {
    /// The code of the condition that the finding foretells; `nil` if it foretells none.
    package var code: ConditionCode? {
        switch self {
        case .otherConfiguration(let other, _): other.code
        case .otherVehicle(_, let other, _): other?.code
        case .noAnswer, .noFix(.waiting, _, _): .receiverUnavailable
        case .noFix(_, let cause?, _): Condition(cause).code
        case .noFix(let state, nil, _): state.kind == .starting ? .receiverUnavailable : .noPosition
        case .staleFix(_, let kind, _):
            switch kind {
            case .receiving, .noPosition: .noPosition
            case .starting, .waiting: .receiverUnavailable
            case .ended: .logEnded
            case nil: nil
            }
        case .wrongFixTime(_, _, .ownUnsynchronized): .hostClockWrong
        case .wrongFixTime(_, _, .ownSynchronized), .wrongFixTime(_, _, .fleetEngine): .receiverTimeWrong
        // Fleet Engine would reject every update in the same way.
        case .vehicleRejected: .everythingRejected
        case .outboxForbidden, .otherReaders, .tripUnknown: nil
        }
    }
}

extension OnlineFinding.OtherConfiguration {
    fileprivate var code: ConditionCode? {
        switch self {
        case .rejectedReload: .reloadRejected
        case .otherFile, .fileChanged: nil
        }
    }
}
