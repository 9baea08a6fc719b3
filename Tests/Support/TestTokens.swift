import VehicleAuthorization

/// JSON Web Tokens for tests: right in shape and size, signed by nobody.
package enum TestTokens {
    /// A token with the given payload, a JSON object.
    package static func token(payload: String, header: String = #"{"alg":"RS256","typ":"JWT"}"#) -> String {
        [header, payload, String(repeating: "not a signature ", count: 16)].map { Base64.urlEncoded($0.utf8) }.joined(
            separator: ".")
    }

    /// A driver's token as Fleet Engine wants it; `serial` makes it differ from others.
    package static func driver(
        vehicleID: String, issuedAt: Int = 1_000_000_000, lifetime: Int = 3600, serial: Int = 0
    ) -> String {
        token(
            payload: """
                {"aud":"https://fleetengine.googleapis.com/","iat":\(issuedAt),"exp":\(issuedAt + lifetime),\
                "jti":"\(serial)","authorization":{"vehicleid":"\(vehicleID)"}}
                """)
    }

    /// A consumer's token for one trip.
    package static func consumer(tripID: String) -> String {
        token(
            payload: """
                {"aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600,\
                "authorization":{"tripid":"\(tripID)"}}
                """)
    }
}
