import LinuxPlatform
import ReportedText
import VehicleAuthorization

/// Tells the log when a vehicle's token cannot be renewed while the one in hand serves, and when it can again.
final class RenewalLog: Sendable {
    private let log: LogWriter
    /// Of whose tokens the log says so.
    private let told = Locked(Set<AuthorizationContext>())

    init(_ log: LogWriter) { self.log = log }

    /// Takes how the renewal of the token for `context` fares.
    func tell(_ renewal: TokenRenewal, of context: AuthorizationContext) {
        switch renewal {
        case .fails(let error, let remaining):
            guard told.withLock({ $0.insert(context).inserted }) else { return }
            log.write(
                .warning,
                "the token of \(context) cannot be renewed; the one in hand is used for \(remaining.spoken) more: "
                    + "\(error)")
        case .works:
            guard told.withLock({ $0.remove(context) }) != nil else { return }
            log.write(.info, "the token of \(context) is renewed again")
        case .lapsed: break  // what comes of that is the upload's trouble
        }
    }
}
