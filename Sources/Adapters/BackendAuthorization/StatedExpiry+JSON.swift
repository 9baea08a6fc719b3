import ReportedText
import StrictJSON
import TimeAndRandomness
import VehicleAuthorization

extension StatedExpiry {
    /// Reads a number, a numeric string, an RFC 3339 time or a protobuf duration such as `3600s`; `nil` for null. Any
    /// other value is marked as unreadable.
    init?(_ value: JSONValue, key: String, without secrets: [String]) {
        if value.isNull { return nil }
        let shown: String
        switch value {
        case .bool(let flag): shown = "\(flag)"
        case .integer(let number): shown = "\(number)"
        case .number(let number): shown = "\(number)"
        case .string(let text): shown = "\"\(ReportedText(text, without: secrets, limit: 40))\""
        case .null, .array, .object: shown = "(\(value.kind))"
        }
        self.init(key: key, text: shown, meaning: Meaning(value))
    }
}

extension StatedExpiry.Meaning {
    fileprivate init(_ value: JSONValue) {
        let text = value.stringValue?.trimmingWhitespace()
        if let number = value.numericValue {
            self = .number(number)
        } else if let time = text.flatMap(UTCTime.init(rfc3339:)) {
            self = .time(time.secondsSince1970)
        } else if let text, text.last == "s", let seconds = Double(text.dropLast()), seconds.isFinite {
            self = .span(seconds)
        } else {
            self = .unreadable
        }
    }
}
