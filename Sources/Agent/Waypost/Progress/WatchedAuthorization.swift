import LinuxPlatform
import LocationReporting
import VehicleAuthorization

/// A provider whose calls can be given up, and that is made anew then.
final class WatchedAuthorization: VehicleAuthorization {
    private let make: @Sendable () -> (any VehicleAuthorization)?
    private let current: Locked<any VehicleAuthorization>
    private let calls: StageCalls

    /// `make` gives another provider of the same kind; `nil` when it cannot.
    init(
        _ provider: any VehicleAuthorization, progress: StageProgress, clock: MonotonicClock,
        make: @escaping @Sendable () -> (any VehicleAuthorization)?
    ) {
        (current, self.make) = (Locked(provider), make)
        calls = StageCalls(of: .token, progress: progress, clock: clock)
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let provider = current.withLock { $0 }
        let result = await calls.run { () -> Result<AuthorizationToken, AuthorizationError> in
            do throws(AuthorizationError) { return .success(try await provider.token(for: context)) } catch {
                return .failure(error)
            }
        }
        guard let result else {
            throw AuthorizationError(.unavailable, "the token provider did not answer and was given up")
        }
        return try result.get()
    }

    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        await current.withLock { $0 }.discard(token, for: context)
    }

    func networkReturned() async { await current.withLock { $0 }.networkReturned() }

    /// Another provider, with no token kept.
    func repair() {
        if let new = make() { current.withLock { $0 = new } }
        calls.giveUp()
    }
}
