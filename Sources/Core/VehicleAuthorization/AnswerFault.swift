package import ReportedText

/// The reason why an answer, a file or a command's output contains no usable token. The fault quotes nothing from the
/// contents except the names of keys.
package enum AnswerFault: Error, Sendable, Hashable {
    /// The place in an answer where a token was expected.
    package enum Place: Sendable, Hashable { case underKey, jsonString, bareText }

    /// The reason why a text isn't valid JSON.
    package enum Mistake: Sendable, Hashable { case singleQuotes, encoding, other }

    /// The kind of a text that was found in place of a token, recognised by its form.
    package enum Lookalike: Sendable, Hashable {
        /// An OAuth 2 access token, such as one from Google's servers.
        case accessToken
        case apiKey
        /// A key or a certificate in PEM format.
        case pem
        /// JSON that was encoded as a string.
        case jsonInString
        /// A token with white space or line breaks inside it.
        case brokenByWhiteSpace
        /// A token within other text, such as `token=…`.
        case insideOtherText
        /// A token with five parts (JWE, RFC 7516).
        case encrypted
        /// A token in plain base64 instead of base64url.
        case plainBase64
        /// A token that is encoded in base64 again, as Kubernetes stores its secrets.
        case encodedTwice
    }

    /// The kind of contents in a JSON object that contains no token under the expected key.
    package enum Members: Sendable, Hashable {
        /// The format of one of Google's samples, by its name in the setting `tokenShape`.
        case tokenShape(String)
        /// A token is under this key instead.
        case tokenUnderOtherKey(ReportedText)
        case consumerToken
        case driverToken
        case serviceAccountKey
        /// The answer to an OAuth login, which contains a refresh token.
        case login
        case lookalike(Lookalike, under: ReportedText)
        case reportedError
        case nothing
        case other
    }

    case nothing(isNull: Bool)
    /// A command printed nothing to standard output and these lines to standard error.
    case nothingPrinted(errorLines: [ReportedText])
    /// The answer is an HTML or XML document.
    case page
    case gzip
    case utf16
    case invalidJSON(Mistake, line: Int, column: Int, bytes: Int, mediaType: ReportedText?)
    /// JSON that is neither a string nor an object. `kind` describes it, such as `an array`.
    case notAnObject(kind: String)
    case missingKey(keys: [ReportedText], others: Int, Members)
    /// The value under the token's key isn't a string.
    case notAString(kind: String, Members)
    case emptyToken
    /// A text that doesn't start like a token.
    case otherText(bytes: Int, mediaType: ReportedText?, hasLines: Bool)
    case lookalike(Lookalike, Place)
    case notAToken(JSONWebToken.Problem, Place)
    case unsigned(Place)
    case shortSignature(bytes: Int, Place)

    /// This fault without the details that may change from answer to answer, used to log a fault once.
    var topic: Self {
        switch self {
        case .nothingPrinted: .nothingPrinted(errorLines: [])
        case .invalidJSON(let mistake, _, _, _, let type):
            .invalidJSON(mistake, line: 0, column: 0, bytes: 0, mediaType: type)
        case .otherText(_, let type, let hasLines): .otherText(bytes: 0, mediaType: type, hasLines: hasLines)
        default: self
        }
    }
}
