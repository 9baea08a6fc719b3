import ReportedText
import StrictJSON
import VehicleAuthorization

/// A backend with a service account that issues tokens, and the checks by which Fleet Engine accepts them.
struct TokenAuthority {
    static let serviceAccount = "driver@simulator.iam.gserviceaccount.com"
    /// The maximum number of seconds by which a token's `iat` may be ahead of the server's clock.
    private static let clockSkew: Int64 = 600
    /// The maximum number of seconds by which a token's `exp` may be ahead of the server's clock.
    private static let maximumLifetime: Int64 = 3600

    private let key: SigningKey
    private let keyID: String
    /// The public key of another issuer whose tokens are also accepted; `nil` if there is none.
    private let trustedKey: SigningKey?

    /// Creates an authority. `key` is a private key in DER; if it is `nil`, a new key is generated. `trustedKey` is a
    /// public key in PEM.
    init(keyID: String, key: [UInt8]? = nil, trustedKey: [UInt8]? = nil) throws(SigningKey.Failure) {
        if let key { self.key = try SigningKey(encoded: key) } else { self.key = try SigningKey() }
        if let trustedKey { self.trustedKey = try SigningKey(publicPEM: trustedKey) } else { self.trustedKey = nil }
        self.keyID = keyID
    }

    /// Returns the key id after `generation` rotations. A rotation changes only the id, not the key. An old token is
    /// then rejected because the account no longer has a key with the token's key id.
    private func keyID(afterRotations generation: Int) -> String { generation == 0 ? keyID : "\(keyID)-\(generation)" }

    /// Returns a token with the claims, signed with RS256.
    func token(_ claims: TokenClaims, keyGeneration: Int = 0) throws(SigningKey.Failure) -> String {
        let header = JSONValue.object([
            "alg": .string("RS256"), "typ": .string("JWT"), "kid": .string(keyID(afterRotations: keyGeneration)),
        ])
        let signed = Base64.urlEncoded(header.utf8) + "." + Base64.urlEncoded(claims.json.utf8)
        return signed + "." + Base64.urlEncoded(try key.signature(of: Array(signed.utf8)))
    }

    /// Returns the claims of the token in an `Authorization` header, after checking that the token is valid.
    ///
    /// - Throws: an `UNAUTHENTICATED` error if the token isn't valid. Its message states the reason in more detail than
    ///   the real service does.
    func claims(
        ofAuthorization header: String?, now: Int64, keyGeneration: Int = 0
    ) throws(ErrorAnswer) -> TokenClaims {
        guard let header, !header.isEmpty else { throw .unauthenticated("the request has no Authorization header") }
        let words = header.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bearer" else {
            throw .unauthenticated("the Authorization header must have the form \"Bearer TOKEN\"")
        }
        let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = decodedJSON(parts[0]), let payload = decodedJSON(parts[1]),
            let signature = Base64.urlDecoded(parts[2].utf8)
        else { throw .unauthenticated("the token is not a JSON Web Token of three base64url parts") }
        let algorithm = head["alg"]?.stringValue ?? "missing"
        guard algorithm == "RS256" else {
            throw .unauthenticated("the token's alg is \(ReportedText(algorithm, limit: 20)); it must be RS256")
        }
        let isOwn = head["kid"]?.stringValue == keyID(afterRotations: keyGeneration)
        guard isOwn || trustedKey != nil else {
            throw .unauthenticated("the token's kid is not the id of a key of the service account")
        }
        let message = Array("\(parts[0]).\(parts[1])".utf8)
        guard (isOwn ? key : trustedKey)?.verifies(signature, of: message) == true else {
            throw .unauthenticated("the token's signature is wrong")
        }
        guard let claims = TokenClaims(payload) else {
            throw .unauthenticated("the token lacks iss, sub, aud, iat or exp, or one has the wrong type")
        }
        try Self.check(claims, now: now)
        return claims
    }

    /// Checks the times, the audience, the issuer and the subject, but not the signature.
    static func check(_ claims: TokenClaims, now: Int64) throws(ErrorAnswer) {
        guard claims.expiry > now else { throw .unauthenticated("the token expired \(now - claims.expiry) s ago") }
        guard claims.issuedAt <= now + clockSkew else {
            throw .unauthenticated(
                "the token's iat is \(claims.issuedAt - now) s ahead; at most \(clockSkew) s are accepted")
        }
        guard claims.expiry <= now + maximumLifetime else {
            throw .unauthenticated(
                "the token's exp is \(claims.expiry - now) s ahead; at most \(maximumLifetime) s are accepted")
        }
        guard claims.audience == TokenClaims.fleetEngineAudience else {
            throw .unauthenticated(
                "the token's aud is \(claims.audience); it must be \(TokenClaims.fleetEngineAudience)")
        }
        guard claims.issuer == claims.subject, !claims.issuer.isEmpty else {
            throw .unauthenticated("the token's iss and sub must both be the service account")
        }
    }

    private func decodedJSON(_ part: Substring) -> JSONValue? {
        Base64.urlDecoded(part.utf8).flatMap { try? JSONValue(parsing: $0) }
    }
}

/// The claims of a Fleet Engine token. Times are in seconds since 1970.
package struct TokenClaims: Sendable, Hashable {
    package static let fleetEngineAudience = "https://fleetengine.googleapis.com/"

    package var issuer: String
    package var subject: String
    package var audience = Self.fleetEngineAudience
    package var issuedAt: Int64
    package var expiry: Int64
    /// The private claims with one value each, such as `vehicleid`, by name.
    package var authorization: [String: String]
    /// The ids of the tasks in a delivery driver's token. They are separate from `authorization`, because the claim is
    /// a list.
    package var taskIDs: [String] = []
}

extension TokenClaims {
    /// Reads the claims from a token's payload. Returns `nil` if a required claim is missing or has the wrong type.
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

/// The holder of a token. The token's private claims depend on the holder's kind and id.
struct TokenSubject: Sendable {
    /// The kinds of holders, keyed by their names in the path of the token endpoint. A bound token's claims contain the
    /// id of one resource. The claims of other tokens contain `*`, which stands for all ids.
    private static let kinds: [String: (name: String, claims: [String], isBound: Bool)] = [
        "driver": ("driver", ["vehicleid"], true),
        "delivery_driver": ("delivery driver", ["deliveryvehicleid"], true),
        "consumer": ("consumer", ["tripid"], true),
        "delivery_consumer": ("delivery consumer", ["trackingid"], true),
        // This consumer follows one task instead of a shipment.
        "task_consumer": ("delivery consumer", ["taskid"], true),
        "server": ("server", ["tripid", "vehicleid", "deliveryvehicleid", "taskid", "trackingid"], false),
        "fleet_reader": ("fleet reader", ["deliveryvehicleid", "taskid", "trackingid"], false),
    ]

    /// The name of the kind of holder, which the record and the page show.
    let name: String
    let isConsumer: Bool
    /// The id of the vehicle, trip, shipment or task to which the token is bound; `nil` if the token isn't bound.
    private(set) var id: String?
    /// The ids of the tasks that the token permits; empty unless the holder is a trusted delivery driver.
    private let tasks: [String]
    private let claimNames: [String]

    /// Creates a subject from the path of the token endpoint, such as `driver/van-7`, and the task ids in the query.
    /// Returns `nil` if the kind is unknown, or if the id is missing or superfluous.
    init?(kind word: String, id: String?, taskIDs: [String]) {
        guard let kind = Self.kinds[word], kind.isBound == (id != nil) else { return nil }
        tasks = word == "delivery_driver" ? taskIDs : []
        name = tasks.isEmpty ? kind.name : "trusted \(kind.name)"
        self.id = id
        claimNames = kind.claims
        isConsumer = word.hasSuffix("consumer")
    }

    /// The private claims with one value each, by name. The list of task ids is separate.
    var claims: [String: String] {
        var claims = Dictionary(uniqueKeysWithValues: claimNames.map { ($0, id ?? "*") })
        if tasks.count == 1 { claims["taskid"] = tasks[0] }
        return claims
    }

    /// The task ids in the `taskids` claim; empty for a single task, which is in the `taskid` claim.
    var taskIDs: [String] { tasks.count > 1 ? tasks : [] }

    /// All ids in the token's claims.
    var ids: [String] { [id].compactMap(\.self) + tasks }

    /// A copy of this subject with another id, as if the backend had confused two vehicles.
    var withOtherID: Self {
        var other = self
        if id != nil { other.id = "somebody-else" }
        return other
    }
}
