/// Text of which a part comes from outside (a server, a token's issuer, a claim, a receiver, a child process), fit for
/// a log, a page, a terminal and a file: without secrets, without control characters, and of limited length.
///
/// Every initialiser redacts. A literal with interpolated values is the program's own text around foreign values: each
/// value is redacted, unless it is a `ReportedText` already. Secrets are removed before the text is cut, so that no cut
/// leaves a part of one that is no longer recognised.
package struct ReportedText: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of one text from outside, in bytes of UTF-8.
    package static let longest = 300
    /// The maximum length of a sentence with foreign values, in bytes of UTF-8.
    package static let longestSentence = 1000

    /// The text as it may be shown.
    package let description: String

    /// Redacts `text` and cuts it.
    ///
    /// - Parameters:
    ///   - text: the foreign text.
    ///   - secrets: what was sent or is kept, and must not be shown. It is removed if it is plain, percent-encoded,
    ///     escaped for JSON or in base64, or in several of these encodings, one inside the other.
    ///   - limit: the maximum length in bytes of UTF-8. A longer text ends with `…`.
    package init(
        _ text: some StringProtocol, without secrets: [String] = [], limit: Int = ReportedText.longest
    ) {
        self.init(bytes: text.utf8, without: secrets, limit: limit)
    }

    /// Redacts and cuts a text in bytes that need not be UTF-8.
    package init(
        bytes: some Sequence<UInt8>, without secrets: [String] = [], limit: Int = ReportedText.longest
    ) {
        description = Self.cut(Redaction(secrets).applied(to: bytes, limit: limit).printable, to: limit)
    }

    private init(shown: String) { description = shown }

    package var isEmpty: Bool { description.isEmpty }

    /// The same, no longer than so many bytes.
    package func cut(to limit: Int) -> ReportedText { Self(shown: Self.cut(description, to: limit)) }

    /// Between scalars, so that what is left is UTF-8.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let mark = "…"
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, limit - mark.utf8.count))
        while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
        return String(text.unicodeScalars[..<end]) + mark
    }
}

extension ReportedText: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}
        package mutating func appendLiteral(_ literal: String) { text += literal }
        package mutating func appendInterpolation(_ value: ReportedText) { text += value.description }
        package mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
        package mutating func appendInterpolation(_ error: some Error) {
            text += ReportedText(String(describing: error), limit: ReportedText.longestSentence).description
        }
        package mutating func appendInterpolation(_ value: some Any) {
            text += ReportedText(String(describing: value)).description
        }
    }

    package init(stringInterpolation: StringInterpolation) {
        description = Self.cut(stringInterpolation.text, to: Self.longestSentence)
    }

    package init(stringLiteral text: String) { self.init(text, limit: Self.longestSentence) }
}

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
