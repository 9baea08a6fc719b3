import GoogleRidesharingDriver

/// A provider of vehicle tokens for the Driver SDK, in the form of the Driver SDK's guide. It fetches them from the
/// app's backend.
class AccessTokenProvider: NSObject, GMTDAuthorization {

    enum AccessTokenError: Error {
        case missingAuthorizationContext
        case missingData
    }

    private struct AuthToken {
        let token: String
        /// The time of expiry in seconds since 1970.
        let expiration: TimeInterval
        let vehicleID: String
    }

    /// The minimum remaining lifetime of a token for the SDK, in seconds.
    private let minimumLife: TimeInterval = 5 * 60

    private let backend: URL
    private var authToken: AuthToken?

    init(backend: URL) {
        self.backend = backend
        super.init()
    }

    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping GMTDAuthTokenFetchCompletionHandler
    ) {
        guard let authorizationContext = authorizationContext else {
            completion(nil, AccessTokenError.missingAuthorizationContext)
            return
        }
        let vehicleID = authorizationContext.vehicleID
        if let authToken = authToken, authToken.vehicleID == vehicleID,
            authToken.expiration - minimumLife > Date.now.timeIntervalSince1970
        {
            completion(authToken.token, nil)
            return
        }
        let request = URLRequest(url: backend.appendingPathComponent("token/driver/\(vehicleID)"))
        let task = URLSession.shared.dataTask(with: request) { [weak self] data, _, error in
            guard let strongSelf = self else { return }
            guard error == nil else {
                completion(nil, error)
                return
            }
            guard let data = data,
                let answer = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let token = answer["VEHICLE_TOKEN_KEY"] as? String,
                let expiration = answer["TOKEN_EXPIRATION"] as? Double
            else {
                completion(nil, AccessTokenError.missingData)
                return
            }
            strongSelf.authToken = AuthToken(token: token, expiration: expiration, vehicleID: vehicleID)
            completion(token, nil)
        }
        task.resume()
    }
}
