package import GNSS
package import ReportedText
package import Reporting
import TimeAndRandomness
import VehicleAuthorization

/// Returns a sentence with its checksum and line ending.
package func sentence(_ body: String, start: String = "$", ending: String = "\r\n") -> String {
    let digits = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return "\(start)\(body)*\(digits.utf8.count < 2 ? "0" : "")\(digits)\(ending)"
}

/// Returns the epoch at 10:`minute`:`second` on 2026-01-05, from a vehicle that moves north.
package func epoch(second: Int, minute: Int = 15) -> String {
    let time = "10\(padded(minute))\(padded(second)).000"
    let latitude = "48\(padded(second)).5000"
    return sentence("GPGGA,\(time),\(latitude),N,01131.2000,E,1,08,1.1,520.0,M,47.0,M,,")
        + sentence("GPRMC,\(time),A,\(latitude),N,01131.2000,E,22.4,84.4,050126,,,A")
}

private func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

extension Fix {
    /// Returns a fix `second` seconds after 2026-01-05T10:00:00Z, `north` metres north of a fixed place.
    package static func sample(
        _ second: Double, north: Double = 0, speed: Double? = nil, heading: Double? = nil, accuracy: Double? = 5
    ) -> Fix {
        let start = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000)
        var fix = Fix(
            timeOfFix: start.advanced(by: .milliseconds(Int64(second * 1000))), latitude: 50 + north / 111_195,
            longitude: 10)
        fix.speedMetersPerSecond = speed
        fix.headingDegrees = heading
        fix.horizontalAccuracyMeters = accuracy
        return fix
    }
}

/// JSON Web Tokens for tests, with the right form and size but without a valid signature.
package enum TestTokens {
    /// Returns a token with the given payload, a JSON object.
    package static func token(payload: String, header: String = #"{"alg":"RS256","kid":"1","typ":"JWT"}"#) -> String {
        [header, payload, String(repeating: "not a signature ", count: 16)].map { Base64.urlEncoded($0.utf8) }.joined(
            separator: ".")
    }

    /// Returns a driver's token as Fleet Engine requires it; `serial` distinguishes the token from others.
    package static func driver(
        vehicleID: String, issuedAt: Int = 1_000_000_000, lifetime: Int = 3600, serial: Int = 0
    ) -> String {
        token(
            payload: """
                {"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":\(issuedAt),"exp":\(issuedAt + lifetime),\
                "jti":"\(serial)","authorization":{"vehicleid":"\(vehicleID)"}}
                """)
    }

    /// Returns a consumer's token for one trip.
    package static func consumer(tripID: String) -> String {
        token(
            payload: """
                {"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600,\
                "authorization":{"tripid":"\(tripID)"}}
                """)
    }
}

extension ServiceAnswer {
    /// Returns the service's own error with a status.
    package static func sample(_ status: Int) -> Self {
        Self(status: status, body: .error("message", about: nil), account: "p")
    }
}

extension DeliveryFault {
    /// Returns a fault whose text is `message`.
    package static func sample(_ message: ReportedText) -> Self { .invalidAddress(message) }
}
