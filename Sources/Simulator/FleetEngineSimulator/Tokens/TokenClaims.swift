import StrictJSON

/// What a Fleet Engine token says; times in seconds since 1970.
package struct TokenClaims: Sendable, Hashable {
    package static let fleetEngineAudience = "https://fleetengine.googleapis.com/"

    package var issuer: String
    package var subject: String
    package var audience: String
    package var issuedAt: Int64
    package var expiry: Int64
    /// The private claims, as `vehicleid`.
    package var authorization: [String: String]
    /// The tasks of a delivery driver's token, which are a list of their own.
    package var taskIDs: [String]

    package init(
        issuer: String, subject: String, audience: String = fleetEngineAudience, issuedAt: Int64, expiry: Int64,
        authorization: [String: String], taskIDs: [String] = []
    ) {
        (self.issuer, self.subject, self.audience) = (issuer, subject, audience)
        (self.issuedAt, self.expiry) = (issuedAt, expiry)
        (self.authorization, self.taskIDs) = (authorization, taskIDs)
    }

    /// Reads the payload; `nil` when a claim is missing or of another type.
    init?(_ json: JSONValue) {
        guard let issuer = json["iss"]?.stringValue, let subject = json["sub"]?.stringValue,
            let audience = json["aud"]?.stringValue, let issuedAt = json["iat"]?.integerValue,
            let expiry = json["exp"]?.integerValue
        else { return nil }
        let claims = json["authorization"]?.objectValue ?? [:]
        self.init(
            issuer: issuer, subject: subject, audience: audience, issuedAt: issuedAt, expiry: expiry,
            authorization: claims.compactMapValues(\.stringValue),
            taskIDs: (claims["taskids"]?.arrayValue ?? []).compactMap(\.stringValue))
    }

    var json: JSONValue {
        var claims = authorization.mapValues(JSONValue.string)
        if !taskIDs.isEmpty { claims["taskids"] = .array(taskIDs.map(JSONValue.string)) }
        return .object([
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(audience), "iat": .integer(issuedAt),
            "exp": .integer(expiry), "authorization": .object(claims),
        ])
    }
}
