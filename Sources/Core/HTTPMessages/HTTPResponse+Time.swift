extension HTTPResponse {
    /// The server's clock when it answered, in seconds since 1970, from `Date`.
    package var serverTime: Double? { headers["Date"].flatMap(HTTPDate.init).map { Double($0.secondsSince1970) } }

    /// How long the server asks to be left alone: `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3).
    ///
    /// A date is measured against the server's own clock where it is known, else against `localTime` (seconds since
    /// 1970). Never negative, at most a day; `nil` when there is none or it cannot be read.
    package func retryAfter(localTime: Double?) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let seconds = UInt32(text) {
            return .seconds(min(Int64(seconds), 86_400))
        }
        guard let moment = HTTPDate(text), let now = serverTime ?? localTime else { return nil }
        return .seconds(Int64(max(0, min(Double(moment.secondsSince1970) - now, 86_400))))
    }
}
