package import GNSS
package import ReportedText
package import Reporting
import TimeAndChance
import VehicleAuthorization

/// A sentence with its checksum and line end.
package func sentence(_ body: String, start: String = "$", ending: String = "\r\n") -> String {
    let digits = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return "\(start)\(body)*\(digits.utf8.count < 2 ? "0" : "")\(digits)\(ending)"
}

/// One epoch at `second` of 2026-01-05T10:15, a vehicle going north.
package func epoch(second: Int, minute: Int = 15) -> String {
    let time = "10\(padded(minute))\(padded(second)).000"
    let latitude = "48\(padded(second)).5000"
    return sentence("GPGGA,\(time),\(latitude),N,01131.2000,E,1,08,1.1,520.0,M,47.0,M,,")
        + sentence("GPRMC,\(time),A,\(latitude),N,01131.2000,E,22.4,84.4,050126,,,A")
}

private func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

extension Fix {
    /// A fix `second` seconds after 2026-01-05T10:00:00Z, `north` metres north of a fixed place.
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

/// JSON Web Tokens for tests: right in shape and size, signed by nobody.
package enum TestTokens {
    /// A token with the given payload, a JSON object.
    package static func token(payload: String, header: String = #"{"alg":"RS256","kid":"1","typ":"JWT"}"#) -> String {
        [header, payload, String(repeating: "not a signature ", count: 16)].map { Base64.urlEncoded($0.utf8) }.joined(
            separator: ".")
    }

    /// A driver's token as Fleet Engine wants it; `serial` makes it differ from others.
    package static func driver(
        vehicleID: String, issuedAt: Int = 1_000_000_000, lifetime: Int = 3600, serial: Int = 0
    ) -> String {
        token(
            payload: """
                {"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":\(issuedAt),"exp":\(issuedAt + lifetime),\
                "jti":"\(serial)","authorization":{"vehicleid":"\(vehicleID)"}}
                """)
    }

    /// A consumer's token for one trip.
    package static func consumer(tripID: String) -> String {
        token(
            payload: """
                {"iss":"a","sub":"a","aud":"https://fleetengine.googleapis.com/","iat":1000000000,"exp":1000003600,\
                "authorization":{"tripid":"\(tripID)"}}
                """)
    }
}

extension ServiceAnswer {
    /// The service's own error with a status.
    package static func sample(_ status: Int) -> Self {
        Self(status: status, body: .error("message", about: nil), account: "p")
    }
}

extension DeliveryFault {
    /// A fault that is worded by `message` alone.
    package static func sample(_ message: ReportedText) -> Self { .invalidAddress(message) }
}
