package import ReportedText

/// The reason why an answer, a file or a command's output contains no usable token. Keeps none of the contents except
/// the names of keys.
package enum AnswerFault: Error, Sendable, Hashable {
    /// The place of a token.
    package enum Place: Sendable, Hashable { case underKey, jsonString, bareText }

    /// The reason why a text isn't JSON.
    package enum Mistake: Sendable, Hashable { case singleQuotes, encoding, other }

    /// A text that was found in place of a token, recognised by its form.
    package enum Lookalike: Sendable, Hashable {
        /// An OAuth 2 access token, such as one from Google's servers.
        case accessToken
        case apiKey
        /// A key or a certificate.
        case pem
        /// JSON inside a string.
        case writtenJSON
        /// A token with white space or line breaks inside it.
        case broken
        /// A token within other text, such as `token=…`.
        case surrounded
        /// A token with five parts (JWE, RFC 7516).
        case encrypted
        /// A token that uses the alphabet of plain base64.
        case plainBase64
        /// A token encoded in base64 as a whole, as Kubernetes stores its secrets.
        case encoded
    }

    /// The contents of an object without a token under the expected key.
    package enum Members: Sendable, Hashable {
        /// An answer in the format of one of Google's samples, with its name in `tokenShape`.
        case shape(String)
        /// The token is under this key.
        case tokenUnder(ReportedText)
        case consumerToken
        case driverToken
        case serviceAccountKey
        /// The answer to an OAuth login.
        case login
        case lookalike(Lookalike, under: ReportedText)
        case reportedError
        case nothing
        case other
    }

    case nothing(isNull: Bool)
    /// A command printed nothing to standard output and these lines to standard error.
    case nothingPrinted(said: [ReportedText])
    /// HTML or XML.
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

    /// This fault without the details that may change from answer to answer.
    var topic: Self {
        switch self {
        case .nothingPrinted: .nothingPrinted(said: [])
        case .invalidJSON(let mistake, _, _, _, let type):
            .invalidJSON(mistake, line: 0, column: 0, bytes: 0, mediaType: type)
        case .otherText(_, let type, let hasLines): .otherText(bytes: 0, mediaType: type, hasLines: hasLines)
        default: self
        }
    }
}
