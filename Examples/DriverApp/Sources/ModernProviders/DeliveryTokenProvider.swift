import GoogleRidesharingDriver

/// A provider of delivery vehicles' tokens for the Driver SDK, in the `async` form.
public class DeliveryTokenProvider: NSObject, GMTDAuthorization {
    enum DeliveryTokenError: Error {
        case missingAuthorizationContext
        case missingData
    }

    private struct TokenResponse: Decodable {
        let token: String
        let expiration: TimeInterval

        enum CodingKeys: String, CodingKey {
            case token = "VEHICLE_TOKEN_KEY"
            case expiration = "TOKEN_EXPIRATION"
        }
    }

    private let backend: URL
    private var cached: (vehicleID: String, response: TokenResponse)?

    /// Creates a provider that asks `backend`.
    public init(backend: URL) { self.backend = backend }

    /// Returns a token for the context's delivery vehicle.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        guard let context = authorizationContext else { throw DeliveryTokenError.missingAuthorizationContext }
        if let cached, cached.vehicleID == context.vehicleID,
            cached.response.expiration - 300 > Date.now.timeIntervalSince1970
        {
            return cached.response.token
        }
        let url = backend.appending(path: "token/delivery_driver/\(context.vehicleID)")
        let (data, response) = try await URLSession.shared.data(from: url)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw DeliveryTokenError.missingData }
        let answer = try JSONDecoder().decode(TokenResponse.self, from: data)
        cached = (context.vehicleID, answer)
        return answer.token
    }
}
