package import StrictJSON

/// The header and the claims of a JSON Web Token (RFC 7519). Only the server verifies the signature.
package struct JSONWebToken: Sendable {
    /// The reason why a string isn't a JSON Web Token. It never contains the string.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case wrongPartCount(Int)
        case notBase64URL(part: String)
        case notJSONObject(part: String)

        package var description: String {
            switch self {
            case .wrongPartCount(let count):
                "is not a JSON Web Token: it has \(count) \(count == 1 ? "part" : "parts") instead of three"
            case .notBase64URL(let part): "is not a JSON Web Token: its \(part) is not base64url (cut off?)"
            case .notJSONObject(let part): "is not a JSON Web Token: its \(part) is not a JSON object"
            }
        }
    }

    /// The claims that Fleet Engine reads under `authorization`.
    package struct Authorization: Sendable, Hashable {
        package var vehicleID: String?
        package var deliveryVehicleID: String?
        package var tripID: String?
        package var trackingID: String?
        /// The values of `taskid` and `taskids`.
        package var taskIDs: [String]?
        /// A misspelled claim for the vehicle, such as `vehicleId` or `vehicle_id`.
        package var misspelledVehicleClaim: String?

        /// Whether an id is `*`, which makes the token valid for all vehicles or trips.
        package var isForAll: Bool {
            ([vehicleID, deliveryVehicleID, tripID, trackingID] + (taskIDs?.prefix(1).map { $0 } ?? [])).contains("*")
        }
    }

    package let header: [String: JSONValue]
    package let claims: [String: JSONValue]

    package init(_ text: String) throws(Problem) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .wrongPartCount(parts.count) }
        header = try Self.object(inPart: parts[0], named: "header")
        claims = try Self.object(inPart: parts[1], named: "payload")
        guard Base64.urlDecoded(parts[2]) != nil else { throw .notBase64URL(part: "signature") }
    }

    /// The value of `exp`, in seconds since 1970 by the issuer's clock.
    package var expiry: Double? { claims["exp"]?.numericValue }
    /// The value of `iat`, in seconds since 1970 by the issuer's clock.
    package var issuedAt: Double? { claims["iat"]?.numericValue }
    /// The value of `nbf`, in seconds since 1970 by the issuer's clock.
    package var notBefore: Double? { claims["nbf"]?.numericValue }

    /// The value of `iat`; `nil` if it can't be the time of issue, for example because it is zero or more than a year
    /// before `exp`.
    package var timeOfIssue: Double? {
        guard let issuedAt, Self.isPlausible(issuedAt) else { return nil }
        return expiry.map { $0 - issuedAt > Self.maximumLife } == true ? nil : issuedAt
    }

    /// The maximum plausible lifetime of a token in seconds: a year.
    package static let maximumLife = 31_622_400.0

    /// Whether `time` is small enough to be a number of seconds since 1970 and to calculate with. A claim may contain
    /// any number, even milliseconds.
    package static func isPlausible(_ time: Double) -> Bool { time.isFinite && abs(time) < 1e12 }

    /// Whether `time` can be a number of milliseconds since 1970, for a time in the years 2001 to 2286.
    package static func isInMilliseconds(_ time: Double) -> Bool { (1e12..<1e13).contains(time) }

    /// The values of `aud`, which may be a string or a list.
    package var audience: [String] {
        switch claims["aud"] {
        case .string(let one): [one]
        case .array(let several): several.compactMap(\.stringValue)
        default: []
        }
    }

    /// The `authorization` claim; `nil` if it isn't an object.
    package var authorization: Authorization? {
        guard let members = claims["authorization"]?.objectValue else { return nil }
        var taskIDs = members["taskid"]?.stringValue.map { [$0] }
        if case .array(let several) = members["taskids"] {
            taskIDs = (taskIDs ?? []) + several.compactMap(\.stringValue)
        }
        return Authorization(
            vehicleID: members["vehicleid"]?.stringValue, deliveryVehicleID: members["deliveryvehicleid"]?.stringValue,
            tripID: members["tripid"]?.stringValue, trackingID: members["trackingid"]?.stringValue, taskIDs: taskIDs,
            misspelledVehicleClaim: members.keys.sorted().first { key in
                let letters = key.lowercased().filter(\.isLetter)
                return !["vehicleid", "deliveryvehicleid"].contains(key)
                    && ["vehicleid", "deliveryvehicleid", "vehicle"].contains(letters)
            })
    }

    private static func object(
        inPart part: Substring.UTF8View, named name: String
    ) throws(Problem) -> [String: JSONValue] {
        guard let bytes = Base64.urlDecoded(part) else { throw .notBase64URL(part: name) }
        guard let members = (try? JSONValue(parsing: bytes))?.objectValue else { throw .notJSONObject(part: name) }
        return members
    }
}
