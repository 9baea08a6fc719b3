import FleetEngine
import VehicleAuthorization

extension OnlineCheck {
    /// Whether `consumerAuthorization` gives tokens; `nil` where there is nothing to try.
    ///
    /// The configuration names no trip, so one is asked for that does not exist: a backend that looks its trips up
    /// refuses it, which proves that it answers and no more.
    static func tripToken(_ configuration: Configuration) async -> CheckLine? {
        guard configuration.consumerAuthorization != nil, configuration.vehicle.service == .onDemandTrips else {
            return nil
        }
        let (verdict, text): (CheckLine.Verdict, String)
        do throws(AgentError) {
            switch try await TokenReport.ask(configuration, trip: "waypost-check") {
            case .success(let report): (verdict, text) = (report.verdict.fits ? .ok : .fail, report.summary)
            case .failure(let error) where error.code == .refused:
                verdict = .note
                text = "\(error); the trip asked for does not exist, try one that does: waypost token --trip ID"
            case .failure(let error): (verdict, text) = (.fail, error.detail)
            }
        } catch { (verdict, text) = (.fail, error.detail) }
        return CheckLine(verdict, "trip token", text)
    }
}
