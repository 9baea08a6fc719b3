extension StringProtocol {
    /// Fit for a line of a terminal or a log, whoever has sent it: breaks and tabs become spaces, and whatever else
    /// could steer a terminal or turn the direction of text (control and format characters) becomes U+FFFD.
    package var printable: String {
        // Most texts are plain.
        if utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return String(self) }
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .lineSeparator, .paragraphSeparator: " "
            case .control: scalar.properties.isWhitespace ? " " : "\u{FFFD}"
            case .format: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The same with line feeds left as they are.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map(\.printable).joined(separator: "\n")
    }
}
