package import StrictJSON

extension JSONValue {
    /// A number, or a string that holds one: issuers write times in both ways.
    package var numericValue: Double? {
        if let text = stringValue { return Double(text.filter { !$0.isWhitespace }) }
        return doubleValue
    }
}
