import DriverAuthorization
import Foundation
import FoundationNetworking

/// Fetches vehicle tokens from the app's backend for the Driver SDK.
class AccessTokenProvider: NSObject, GMTDAuthorization {

    enum Service {
        /// On-demand trips.
        case trips
        /// Scheduled tasks.
        case deliveries
    }

    enum AccessTokenError: Error {
        case missingAuthorizationContext
        case badStatus(Int)
        case missingData
    }

    private struct AuthToken {
        let token: String
        let expiration: Date
    }

    private struct TokenResponse: Decodable {
        let token: String
        let expiration: TimeInterval

        enum CodingKeys: String, CodingKey {
            case token = "VEHICLE_TOKEN_KEY"
            case expiration = "TOKEN_EXPIRATION"
        }
    }

    /// The SDK wants at least this much life left in a token.
    private let minimumLife: TimeInterval = 5 * 60

    private let backend: URL
    private let service: Service
    private let session: URLSession
    private let lock = NSLock()
    private var authTokens: [String: AuthToken] = [:]

    init(backend: URL, service: Service) {
        self.backend = backend
        self.service = service
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 10
        self.session = URLSession(configuration: configuration)
        super.init()
    }

    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping GMTDAuthTokenFetchCompletionHandler
    ) {
        guard let authorizationContext = authorizationContext else {
            DispatchQueue.global().async { completion(nil, AccessTokenError.missingAuthorizationContext) }
            return
        }
        let url = tokenURL(for: authorizationContext)
        if let cached = cachedToken(for: url) {
            DispatchQueue.global().async { completion(cached, nil) }
            return
        }
        let task = session.dataTask(with: url) { [weak self] data, response, error in
            if let error = error {
                completion(nil, error)
                return
            }
            if let status = (response as? HTTPURLResponse)?.statusCode, status != 200 {
                completion(nil, AccessTokenError.badStatus(status))
                return
            }
            guard let data = data, let answer = try? JSONDecoder().decode(TokenResponse.self, from: data) else {
                completion(nil, AccessTokenError.missingData)
                return
            }
            self?.keep(
                AuthToken(token: answer.token, expiration: Date(timeIntervalSince1970: answer.expiration)), for: url)
            completion(answer.token, nil)
        }
        task.resume()
    }

    private func tokenURL(for context: GMTDAuthorizationContext) -> URL {
        let kind = service == .trips ? "driver" : "delivery_driver"
        let url = backend.appendingPathComponent("token/\(kind)").appendingPathComponent(context.vehicleID)
        guard let taskID = context.taskID, var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { return url }
        components.queryItems = [URLQueryItem(name: "taskid", value: taskID)]
        return components.url ?? url
    }

    private func cachedToken(for url: URL) -> String? {
        lock.lock()
        defer { lock.unlock() }
        guard let cached = authTokens[url.absoluteString] else { return nil }
        return cached.expiration.timeIntervalSinceNow > minimumLife ? cached.token : nil
    }

    private func keep(_ token: AuthToken, for url: URL) {
        lock.lock()
        defer { lock.unlock() }
        authTokens[url.absoluteString] = token
    }
}
