import Foundation
public import VehicleAuthorization

/// A provider in the Driver SDK's shape, seen as `VehicleAuthorization`.
///
/// It holds the provider to the contract: one call at a time, the first answer counts, an answer must come within the
/// time limit, and a caller who is cancelled does not wait for it. It keeps no tokens; put `CachedAuthorization`
/// around it.
public actor DriverTokenProvider: VehicleAuthorization {
    private let provider: any GMTDAuthorization
    private let timeLimit: Duration
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - provider: handed over for good, since it need not be `Sendable`.
    ///   - timeLimit: how long its answer may take.
    ///   - clock: measures that.
    public init(
        _ provider: sending any GMTDAuthorization, timeLimit: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.provider = provider
        self.timeLimit = timeLimit
        self.clock = clock
    }

    /// Asks the provider for a token. How long it lives is read from the token itself.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        guard !context.vehicleID.isEmpty else {
            throw AuthorizationError(.missingContext, "a token was asked for without a vehicle id")
        }
        let answer = FirstAnswer()
        // Tasks of their own: a provider that never answers must not hold up the caller.
        let asking = Task { await ask(context, answer) }
        let waiting = Task { [clock, timeLimit] in
            try await clock.sleep(for: timeLimit)
            answer.give(
                nil, AuthorizationError(.unavailable, "the provider did not call back within \(timeLimit.secondsText)"))
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        do {
            let value = try await answer.value()
            guard !value.isEmpty else { throw ProviderContractError.emptyAnswer }
            return AuthorizationToken(value: value, lifetime: TokenExpiry.lifetime(ofToken: value))
        } catch let error as AuthorizationError {
            throw error
        } catch is CancellationError {
            throw AuthorizationError(.cancelled, "the wait for the provider's token was cancelled")
        } catch let error as ProviderContractError {
            throw AuthorizationError(.unusableAnswer, error.description)
        } catch {
            // The provider's own words could hold anything, a token too.
            let plain = error as NSError
            throw AuthorizationError(.unavailable, "the provider failed: \(plain.domain), code \(plain.code)")
        }
    }

    private func ask(_ context: AuthorizationContext, _ answer: FirstAnswer) async {
        let driverContext = GMTDAuthorizationContext(vehicleID: context.vehicleID, taskID: context.taskID)
        do {
            answer.give(try await provider.fetchToken(with: driverContext), nil)
        } catch {
            answer.give(nil, error)
        }
    }
}
