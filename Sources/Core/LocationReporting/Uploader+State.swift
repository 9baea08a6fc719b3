package import FleetEngine
import HTTPMessages
import VehicleAuthorization

/// The vehicle's state by itself, as on stop.
extension Uploader {
    /// Sends the vehicle's state without a position, once more with a new token if the first is refused, and tells what
    /// became of it.
    ///
    /// - Throws: when there is no token or no answer.
    package func send(state: VehicleState) async throws -> UploadOutcome {
        let outcome = try await attempt(state)
        if case .tokenRefused = outcome { return try await attempt(state) }
        return outcome
    }

    private func attempt(_ state: VehicleState) async throws -> UploadOutcome {
        let token = try await authorization.token(for: context)
        let update = VehicleUpdate(of: settings.vehicle, state: state)
        let request = try update.request(to: settings.endpoint, token: token.value, limits: settings.limits)
        let response = try await transport.send(request)
        let outcome = UploadOutcome(of: response, to: request, for: settings.vehicle)
        observer.observe(
            outcome == .delivered
                ? .stateSent(state, traffic: response.traffic) : .failed(outcome, traffic: response.traffic))
        if case .tokenRefused = outcome { await authorization.discard(token, for: context) }
        return outcome
    }
}
