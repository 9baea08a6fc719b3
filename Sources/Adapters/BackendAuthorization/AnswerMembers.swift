import ReportedText
import StrictJSON
import VehicleAuthorization

extension AnswerFault {
    /// Creates the fault for the JSON object `members`, which has no token under the configured key.
    init(missingIn members: [String: JSONValue], from origin: TokenAnswer.Origin) {
        let keys = members.keys.sorted().map { ReportedText($0, without: origin.secrets, limit: 40) }
        let shape = TokenAnswerFormat.Shape.allCases.first { shape in
            [shape.format.tokenKey, shape.format.expirationKey].allSatisfy { members[$0] != nil }
        }
        self = .missingKey(
            keys: Array(keys.prefix(8)), others: max(0, keys.count - 8),
            shape.map { .tokenShape($0.rawValue) } ?? Members(members, from: origin))
    }
}

extension AnswerFault.Members {
    /// Classifies the JSON object `members`, which has no token under the configured key.
    init(_ members: [String: JSONValue], from origin: TokenAnswer.Origin) {
        let answer = JSONValue.object(members)
        func reportedText(_ path: String) -> ReportedText { ReportedText(path, without: origin.secrets, limit: 100) }
        let failures: Set = ["error", "errors", "exception", "fault", "message", "detail", "details"]
        self =
            if let path = AnswerFault.Lookalike.tokenPaths(in: answer).first {
                Self.mismatchedToken(answer[path: path]?.stringValue, for: origin.source.subject)
                    ?? .tokenUnderOtherKey(reportedText(path))
            } else if members["private_key"] != nil {
                .serviceAccountKey
            } else if members["refresh_token"] != nil {
                .login
            } else if let (path, kind) = AnswerFault.Lookalike.googleCredential(in: answer) {
                .lookalike(kind, under: reportedText(path))
            } else if members.isEmpty {
                .nothing
            } else {
                members.keys.contains { failures.contains($0.lowercased()) } ? .reportedError : .other
            }
    }

    /// Returns the case for a consumer's token that was returned for a vehicle, or a driver's token that was returned
    /// for a trip; otherwise `nil`.
    private static func mismatchedToken(_ token: String?, for subject: AuthorizationContext.Subject?) -> Self? {
        guard let claims = token.flatMap({ try? JSONWebToken($0) })?.authorization else { return nil }
        let isDrivers = claims.vehicleID != nil || claims.deliveryVehicleID != nil
        switch subject {
        case .vehicle where !isDrivers && (claims.tripID ?? claims.trackingID) != nil: return .consumerToken
        case .trip where isDrivers && claims.tripID == nil: return .driverToken
        case .vehicle, .trip, .shipment, nil: return nil
        }
    }
}
