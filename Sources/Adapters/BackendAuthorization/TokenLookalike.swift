import StrictJSON
import VehicleAuthorization

extension AnswerFault.Lookalike {
    /// Recognises text that was found in place of a token, such as an API key. Returns `nil` if the text is of no known
    /// kind.
    ///
    /// - Parameter text: the text, without white space at either end.
    init?(_ text: String) {
        let solid = text.filter { !$0.isWhitespace }
        if text.hasPrefix("ya29.") {
            self = .accessToken
        } else if text.hasPrefix("AIza"), text.utf8.count == 39 {
            self = .apiKey
        } else if text.hasPrefix("-----BEGIN ") {
            self = .pem
        } else if text.hasPrefix("{") || text.hasPrefix("\"") {
            self = .jsonInString
        } else if solid.count < text.count, Self.isToken(solid) {
            self = .brokenByWhiteSpace
        } else if Self.isToken(Self.asBase64URL(text)) {
            self = .plainBase64
        } else if text.split(whereSeparator: { !Self.isTokenCharacter($0) }).contains(where: {
            Self.isToken(String($0))
        }) {
            self = .insideOtherText
        } else if Self.isEncodedToken(solid) {
            self = .encodedTwice
        } else if text.hasPrefix("ey"), text.count(where: { $0 == "." }) == 4 {
            self = .encrypted
        } else {
            return nil
        }
    }

    /// Returns the paths of the JSON Web Tokens in `answer`, in the form that the setting `tokenKey` accepts.
    static func tokenPaths(in answer: JSONValue) -> [String] {
        paths(in: answer) { isToken($0) }.filter { answer[path: $0]?.stringValue != nil }
    }

    /// Returns the path and the kind of the first Google access token or API key in `answer`; `nil` if there is none.
    static func googleCredential(in answer: JSONValue) -> (path: String, kind: AnswerFault.Lookalike)? {
        let kinds: [AnswerFault.Lookalike] = [.accessToken, .apiKey]
        func kind(_ text: String) -> AnswerFault.Lookalike? {
            AnswerFault.Lookalike(text).flatMap { kinds.contains($0) ? $0 : nil }
        }
        return paths(in: answer) { kind($0) != nil }.first.flatMap { path in
            answer[path: path]?.stringValue.flatMap(kind).map { (path, $0) }
        }
    }

    /// Returns the paths of the strings that `isMatch` accepts, down to a depth that is enough for real answers. Arrays
    /// aren't searched, because a path can't name their elements.
    private static func paths(in answer: JSONValue, depth: Int = 4, isMatch: (String) -> Bool) -> [String] {
        guard depth > 0, let members = answer.objectValue else { return [] }
        return members.sorted { $0.key < $1.key }.flatMap { key, value in
            if let text = value.stringValue { return isMatch(text) ? [key] : [] }
            return paths(in: value, depth: depth - 1, isMatch: isMatch).map { "\(key).\($0)" }
        }
    }

    private static func isToken(_ text: String) -> Bool { text.hasPrefix("ey") && (try? JSONWebToken(text)) != nil }

    private static func isTokenCharacter(_ character: Character) -> Bool {
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
