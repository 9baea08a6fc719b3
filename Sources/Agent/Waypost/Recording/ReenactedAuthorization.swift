import LinuxPlatform
import LocationReporting
import VehicleAuthorization

/// Gives what the recording says the issuer gave, after the same time; the tokens themselves are made up.
final class ReenactedAuthorization: VehicleAuthorization {
    private let fetches: Locked<(rest: ArraySlice<FlightEntry>, count: Int)>
    private let clock: MonotonicClock

    init(_ entries: [FlightEntry], clock: MonotonicClock) {
        fetches = Locked((entries.filter { $0.token != nil }[...], 0))
        self.clock = clock
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let (fetch, number) = fetches.withLock { fetches in
            fetches.count += 1
            return (fetches.rest.popFirst(), fetches.count)
        }
        guard let fetch else { throw AuthorizationError(.unavailable, "the recording holds no more tokens") }
        await clock.sleep(for: .milliseconds(fetch.took ?? 0))
        guard fetch.token != "fetched" else {
            let lifetime = fetch.lifetime.map { Duration.milliseconds($0) }
            return AuthorizationToken(value: "recorded-\(number)", lifetime: lifetime)
        }
        throw AuthorizationError(
            fetch.token.flatMap(AuthorizationError.Code.init(rawValue:)) ?? .unavailable, "as recorded",
            retryAfter: fetch.after.map { .milliseconds($0) })
    }
}
