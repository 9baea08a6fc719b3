import DriverAuthorization

/// The completion handler that a provider calls. Swift 6 mode requires `@Sendable`.
typealias Completion = @Sendable (String?, (any Error)?) -> Void

/// A provider like that of an iOS driver app: completion style, `NSObject`, its own mutable cache, written without
/// Linux in mind.
class CompletionProvider: NSObject, GMTDAuthorization {
    enum Failure: Error {
        case missingAuthorizationContext
        case refused(token: String)
    }

    private var answered = 0
    let answer: (@escaping Completion, String) -> Void

    init(_ answer: @escaping (@escaping Completion, String) -> Void) { self.answer = answer }

    func fetchToken(with authorizationContext: GMTDAuthorizationContext?, completion: @escaping Completion) {
        guard let authorizationContext = authorizationContext else {
            completion(nil, Failure.missingAuthorizationContext)
            return
        }
        answered += 1
        answer(completion, authorizationContext.vehicleID + (authorizationContext.taskID ?? ""))
    }
}

final class AsyncProvider: NSObject, GMTDAuthorization {
    let answer: (String) async throws -> String

    init(_ answer: @escaping (String) async throws -> String) { self.answer = answer }

    func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        try await answer(authorizationContext?.vehicleID ?? "")
    }
}

/// A provider without any completion form.
final class EmptyProvider: NSObject, GMTDAuthorization {}

final class TripProvider: NSObject, GMTCAuthorization {
    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping GMTCAuthTokenFetchCompletionHandler
    ) {
        completion(authorizationContext.map { "token of \($0.tripID)" }, nil)
    }
}

/// A consumer app's provider that loses its completion handler.
final class SilentTripProvider: NSObject, GMTCAuthorization {
    private let entering: AsyncStream<Void>.Continuation

    init(entering: AsyncStream<Void>.Continuation) { self.entering = entering }

    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping GMTCAuthTokenFetchCompletionHandler
    ) { entering.yield() }
}
