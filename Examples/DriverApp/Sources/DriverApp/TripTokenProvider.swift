import GoogleRidesharingConsumer

/// A provider of trip tokens for the Consumer SDK, in the form of the Consumer SDK's guide, with the handler's type
/// written out. It fetches them from the app's backend.
class TripTokenProvider: NSObject, GMTCAuthorization {

    enum TripTokenError: Error {
        case missingAuthorizationContext
        case missingData
    }

    private let backend: URL
    private var cachedTripID: String?
    private var cachedToken: String?
    private var expiration = Date.distantPast

    init(backend: URL) {
        self.backend = backend
        super.init()
    }

    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping (String?, Error?) -> Void
    ) {
        guard let tripID = authorizationContext?.tripID else {
            completion(nil, TripTokenError.missingAuthorizationContext)
            return
        }
        if tripID == cachedTripID, let token = cachedToken, expiration.timeIntervalSinceNow > 300 {
            completion(token, nil)
            return
        }
        let url = backend.appendingPathComponent("token/consumer").appendingPathComponent(tripID)
        URLSession.shared.dataTask(with: url) { data, _, error in
            guard
                let data = data, let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let token = json["TRIP_TOKEN_KEY"] as? String, let seconds = json["TOKEN_EXPIRATION"] as? Double
            else {
                completion(nil, error ?? TripTokenError.missingData)
                return
            }
            self.cachedTripID = tripID
            self.cachedToken = token
            self.expiration = Date(timeIntervalSince1970: seconds)
            completion(token, nil)
        }.resume()
    }
}
