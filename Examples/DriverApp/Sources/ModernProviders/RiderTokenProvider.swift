import GoogleRidesharingConsumer

/// A provider of trip tokens for the Consumer SDK, in the form with a completion handler. In Swift 6 mode the closures
/// of `URLSession` capture only `Sendable` values, so the class and the handler must be `Sendable`.
public final class RiderTokenProvider: NSObject, GMTCAuthorization, @unchecked Sendable {
    enum RiderTokenError: Error {
        case missingAuthorizationContext
        case missingData
    }

    private let backend: URL
    private let lock = NSLock()
    private var tokens: [String: (token: String, expiration: Date)] = [:]

    /// Creates a provider that asks `backend`.
    public init(backend: URL) { self.backend = backend }

    /// Calls `completion` with a token for the context's trip, or with an error.
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        guard let tripID = authorizationContext?.tripID else {
            completion(nil, RiderTokenError.missingAuthorizationContext)
            return
        }
        if let cached = lock.withLock({ tokens[tripID] }), cached.expiration.timeIntervalSinceNow > 300 {
            completion(cached.token, nil)
            return
        }
        let url = backend.appending(path: "token/consumer/\(tripID)")
        let task = URLSession.shared.dataTask(with: url) { [weak self] data, _, error in
            guard let data, let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let token = json["TRIP_TOKEN_KEY"] as? String, let seconds = json["TOKEN_EXPIRATION"] as? Double
            else {
                completion(nil, error ?? RiderTokenError.missingData)
                return
            }
            self?.lock.withLock { self?.tokens[tripID] = (token, Date(timeIntervalSince1970: seconds)) }
            completion(token, nil)
        }
        task.resume()
    }
}
