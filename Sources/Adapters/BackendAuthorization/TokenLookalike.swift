import ReportedText
import StrictJSON
import VehicleAuthorization

/// What stands where a token was expected, told by its shape; no part of it is ever shown.
enum TokenLookalike: Sendable, Hashable {
    /// Of OAuth 2, as Google's servers give them.
    case accessToken
    case apiKey
    /// A key or a certificate.
    case pem
    /// JSON inside of a string.
    case writtenJSON
    /// A token with white space or line ends in its middle.
    case broken
    /// A token among other words, as `token=…`.
    case surrounded
    /// A token of five parts (JWE, RFC 7516).
    case encrypted
    /// A token in the alphabet of plain base64.
    case plainBase64
    /// A token as a whole in base64, as Kubernetes keeps its secrets.
    case encoded

    /// - Parameter text: what is no token, without white space around it.
    init?(_ text: String) {
        let solid = text.filter { !$0.isWhitespace }
        if text.hasPrefix("ya29.") {
            self = .accessToken
        } else if text.hasPrefix("AIza"), text.utf8.count == 39 {
            self = .apiKey
        } else if text.hasPrefix("-----BEGIN ") {
            self = .pem
        } else if text.hasPrefix("{") || text.hasPrefix("\"") {
            self = .writtenJSON
        } else if solid.count < text.count, Self.isToken(solid) {
            self = .broken
        } else if Self.isToken(Self.asBase64URL(text)) {
            self = .plainBase64
        } else if text.split(whereSeparator: { !Self.isOfToken($0) }).contains(where: { Self.isToken(String($0)) }) {
            self = .surrounded
        } else if Self.isEncodedToken(solid) {
            self = .encoded
        } else if text.hasPrefix("ey"), text.count(where: { $0 == "." }) == 4 {
            self = .encrypted
        } else {
            return nil
        }
    }

    /// What it is, and what to do: `place` says where it stood, as `under "jwt"`.
    func words(at place: String, from means: TokenAnswer.Means = .endpoint) -> String {
        let signed = "let the issuer sign a token for Fleet Engine with the key of a service account, and give that"
        return switch self {
        case .accessToken: "an OAuth access token \(place), which Fleet Engine does not take; \(signed)"
        case .apiKey: "an API key \(place), which Fleet Engine does not take; \(signed)"
        case .pem: "a key or certificate in PEM \(place); \(signed)"
        case .writtenJSON: "JSON inside of a string \(place); let the issuer encode its answer once"
        case .broken: "a token \(place) with white space in its middle; let the issuer write it in one line"
        case .surrounded:
            switch means {
            case .endpoint: "a token \(place) with other text around it; let the issuer give the token alone"
            case .command:
                "a token \(place) with other text around it; let the command print the token alone, and what else it says "
                    + "on standard error"
            case .file: "a token \(place) with other text around it; let whoever writes the file write the token alone"
            }
        case .encoded: "the base64 of a token \(place); let it be decoded (base64 -d) where it comes from"
        case .encrypted: "an encrypted token (five parts) \(place); let the issuer give a signed one, of three parts"
        case .plainBase64:
            "a token \(place) in plain base64 (with +, / or =); let the issuer write base64url without padding"
        }
    }

    /// Where in `answer` tokens stand, each as a path that `tokenKey` takes.
    static func tokenPaths(in answer: JSONValue) -> [String] {
        paths(in: answer) { isToken($0) }.filter { answer[path: $0]?.stringValue != nil }
    }

    /// Where in `answer` a secret of Google's stands that is no token.
    static func foreign(in answer: JSONValue) -> (path: String, kind: TokenLookalike)? {
        let kinds: [TokenLookalike] = [.accessToken, .apiKey]
        func kind(_ text: String) -> TokenLookalike? { TokenLookalike(text).flatMap { kinds.contains($0) ? $0 : nil } }
        return paths(in: answer) { kind($0) != nil }.first.flatMap { path in
            answer[path: path]?.stringValue.flatMap(kind).map { (path, $0) }
        }
    }

    /// Strings that `isMeant` accepts, not deeper than answers are; elements of an array have no path.
    private static func paths(in answer: JSONValue, depth: Int = 4, isMeant: (String) -> Bool) -> [String] {
        guard depth > 0, let members = answer.objectValue else { return [] }
        return members.sorted { $0.key < $1.key }.flatMap { key, value in
            if let text = value.stringValue { return isMeant(text) ? [key] : [] }
            return paths(in: value, depth: depth - 1, isMeant: isMeant).map { "\(key).\($0)" }
        }
    }

    private static func isToken(_ text: String) -> Bool { text.hasPrefix("ey") && (try? JSONWebToken(text)) != nil }

    private static func isOfToken(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || "-_.".contains { $0 == character }
    }

    private static func isEncodedToken(_ text: String) -> Bool {
        guard let bytes = Base64.urlDecoded(asBase64URL(text).utf8), case .text(let token) = AnswerKind(bytes) else {
            return false
        }
        return isToken(token)
    }

    private static func asBase64URL(_ text: String) -> String {
        String(text.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }
}
