import FleetEngine
import VehicleAuthorization

/// Whether `consumerAuthorization` gives tokens, as `waypost check --online` tries it.
///
/// The configuration names no trip, so one is asked for that does not exist: a backend that looks its trips up refuses
/// it, which proves that it answers and no more.
package enum TripTokenCheck: Sendable, Hashable {
    /// There is a token, and it fits.
    case good(String)
    /// The backend answers and gives no token for this trip, for which it may have its reasons.
    case open(String)
    /// What is wrong and what to do.
    case bad(String)

    /// What came of it; `nil` where there is nothing to try.
    package static func run(_ configuration: Configuration) async -> Self? {
        guard configuration.consumerAuthorization != nil, configuration.vehicle.service == .onDemandTrips else {
            return nil
        }
        do throws(AgentError) {
            switch try await TokenReport.ask(configuration, trip: "waypost-check") {
            case .success(let report): return report.verdict.fits ? .good(report.summary) : .bad(report.summary)
            case .failure(let error) where error.code == .refused:
                return .open("\(error); the trip asked for does not exist, try one that does: waypost token --trip ID")
            case .failure(let error): return .bad(error.detail)
            }
        } catch { return .bad(error.detail) }
    }
}
