package import ReportedText

/// Why an answer, a file or a command's output contains no usable token. Keeps no part of it except the names of its
/// keys.
package enum AnswerFault: Error, Sendable, Hashable {
    /// The place of a token.
    package enum Place: Sendable, Hashable { case underKey, jsonString, bareText }

    /// Why a text isn't JSON.
    package enum Mistake: Sendable, Hashable { case singleQuotes, encoding, other }

    /// A text in the place of a token, recognised by its form.
    package enum Lookalike: Sendable, Hashable {
        /// An OAuth 2 access token, such as those of Google's servers.
        case accessToken
        case apiKey
        /// A key or a certificate.
        case pem
        /// JSON inside a string.
        case writtenJSON
        /// A token with white space or line ends in its middle.
        case broken
        /// A token within other text, such as `token=…`.
        case surrounded
        /// A token of five parts (JWE, RFC 7516).
        case encrypted
        /// A token in the alphabet of plain base64.
        case plainBase64
        /// A whole token in base64, as Kubernetes keeps its secrets.
        case encoded
    }

    /// The content of an object without a token under the expected key.
    package enum Members: Sendable, Hashable {
        /// An answer of the shape of one of Google's samples, by its name in `tokenShape`.
        case shape(String)
        /// The token is under this key.
        case tokenUnder(ReportedText)
        case consumersToken
        case driversToken
        case serviceAccountKey
        /// An OAuth login.
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
    /// JSON that is neither a string nor an object, such as `an array`.
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
}
