/// Text with foreign parts that is safe for a log, a page, a terminal or a file. It contains no secrets and no control
/// characters, and its length is limited. Foreign parts come from a server, an issuer, a claim, a receiver or a child
/// process.
///
/// Every initialiser removes secrets from foreign text. A literal is the program's own text and contains no secrets. In
/// a literal with interpolated values, each value is redacted unless it is already a `ReportedText`. Secrets are
/// removed before the text is cut. Otherwise a cut could leave a part of a secret that is too short to be recognised.
package struct ReportedText: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a single foreign text, in bytes of UTF-8.
    package static let longest = 300
    /// The maximum length of a sentence that contains foreign values, in bytes of UTF-8.
    package static let maximumSentenceLength = 1000

    /// The text without secrets.
    package let description: String

    /// Removes secrets from `text` and cuts it to `limit` bytes.
    ///
    /// - Parameters:
    ///   - text: the foreign text.
    ///   - secrets: the secrets that were sent or are stored. They are removed whether they are plain, percent-encoded,
    ///     JSON-escaped or in base64, even if several of these encodings are nested.
    ///   - limit: the maximum length in bytes of UTF-8. A longer text ends with `…`.
    package init(
        _ text: some StringProtocol, without secrets: [String] = [], limit: Int = ReportedText.longest
    ) {
        self.init(bytes: text.utf8, without: secrets, limit: limit)
    }

    /// Removes secrets from `bytes` and cuts them to `limit`. The bytes needn't be valid UTF-8.
    package init(
        bytes: some Sequence<UInt8>, without secrets: [String] = [], limit: Int = ReportedText.longest
    ) {
        description = Self.cut(Redaction(secrets).applied(to: bytes, limit: limit).printable, to: limit)
    }

    private init(shown: String) { description = shown }

    package var isEmpty: Bool { description.isEmpty }

    /// Returns this text, cut to at most `limit` bytes.
    package func cut(to limit: Int) -> ReportedText { Self(shown: Self.cut(description, to: limit)) }

    /// Returns `text` without JSON Web Tokens and private keys. The text is the program's own, but names values that
    /// somebody may have entered in the wrong place.
    package static func withoutTokensAndKeys(_ text: String) -> String { Redaction.withoutTokensAndKeys(text) }

    /// Returns `text`, cut to at most `limit` bytes between Unicode scalars, so that the result is valid UTF-8. A text
    /// that was cut ends with `…`. Secrets aren't removed.
    package static func cut(_ text: String, to limit: Int) -> String {
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
            text += ReportedText(String(describing: error), limit: ReportedText.maximumSentenceLength).description
        }
        package mutating func appendInterpolation(_ value: some Any) {
            text += ReportedText(String(describing: value)).description
        }
    }

    package init(stringInterpolation: StringInterpolation) {
        description = Self.cut(stringInterpolation.text, to: Self.maximumSentenceLength)
    }

    package init(stringLiteral text: String) { description = Self.cut(text, to: Self.maximumSentenceLength) }
}

extension StringProtocol {
    /// The text in a form that is safe for one line of a terminal or a log. Line breaks and tabs become spaces. Control
    /// and format characters, which could control a terminal or reverse the direction of text, become U+FFFD.
    package var printable: String {
        // Most strings are plain ASCII and need no change.
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

    /// The text with each line made printable, and with its line feeds kept.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map(\.printable).joined(separator: "\n")
    }
}
