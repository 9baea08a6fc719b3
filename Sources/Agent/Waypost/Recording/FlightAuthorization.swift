import VehicleAuthorization

/// A provider whose fetches are recorded, without the tokens.
struct FlightAuthorization: VehicleAuthorization {
    let provider: any VehicleAuthorization
    let recorder: FlightRecorder

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let begun = recorder.now
        do throws(AuthorizationError) {
            let token = try await provider.token(for: context)
            recorder.note {
                $0.with(\.token, "fetched").with(\.took, $0.at - begun).with(\.lifetime, token.lifetime?.milliseconds)
            }
            return token
        } catch {
            recorder.note {
                $0.with(\.token, error.code.rawValue).with(\.took, $0.at - begun)
                    .with(\.after, error.retryAfter?.milliseconds)
            }
            throw error
        }
    }

    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        await provider.discard(token, for: context)
    }

    func networkReturned() async { await provider.networkReturned() }
}
