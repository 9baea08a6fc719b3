import StrictJSON
import VehicleAuthorization

/// A token read from what an issuer answered: JSON with the token under its key, or the bare token.
struct TokenAnswer {
    let token: AuthorizationToken
    /// What does not fit together about its expiry.
    let doubt: String?

    /// What is known about the moment of the answer, both in seconds since 1970.
    struct Moment {
        /// The issuer's clock; `nil` when it did not tell.
        var issuerTime: Double?
        var localTime: Double
    }

    /// - Parameters:
    ///   - bytes: the whole answer.
    ///   - source: begins the error's sentence, as `token endpoint https://backend.example.com/token`.
    ///   - format: where to look.
    ///   - moment: when it was answered.
    /// - Throws: `.unusableAnswer`, never with a part of the answer but the names of its keys.
    init(_ bytes: [UInt8], from source: String, format: TokenAnswerFormat, moment: Moment) throws(AuthorizationError) {
        func unusable(_ words: String) -> AuthorizationError {
            AuthorizationError(.unusableAnswer, "\(source) \(words)")
        }

        let text = bytes.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }  // a byte order mark too
        var stated: Double?
        let value: String
        switch text.first {
        case nil:
            throw unusable("gave nothing; expected JSON with the token under \"\(format.tokenKey)\"")
        case UInt8(ascii: "<"):
            throw unusable(
                "gave a page (HTML or XML), not a token; check that the address is the token endpoint itself "
                    + "and that no login page or captive portal stands before it")
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let answer: JSONValue
            do { answer = try JSONValue(parsing: Array(text)) } catch {
                throw unusable(
                    "gave \(bytes.count) bytes that are not valid JSON (line \(error.line), column \(error.column))")
            }
            value = try Self.token(in: answer, format, unusable)
            stated = try Self.expiry(in: answer, format, unusable)
        default:
            value = String(decoding: text, as: UTF8.self).trimmingWhitespace()
        }
        let parsed: JSONWebToken
        do { parsed = try JSONWebToken(value) } catch {
            throw unusable("gave a token that \(error)")
        }
        let expiry = TokenExpiry(
            token: parsed, stated: stated, format: format.expirationFormat, issuerTime: moment.issuerTime,
            localTime: moment.localTime)
        token = AuthorizationToken(value: value, lifetime: expiry.lifetime)
        doubt = expiry.doubt.map { "\(source): \($0)" }
    }

    private static func token(
        in answer: JSONValue, _ format: TokenAnswerFormat, _ unusable: (String) -> AuthorizationError
    ) throws(AuthorizationError) -> String {
        let key = format.tokenKey
        guard let members = answer.objectValue else {
            throw unusable("gave \(answer.kind); expected an object with the token under \"\(key)\"")
        }
        guard let value = answer[path: key] else {
            throw unusable("gave JSON without \"\(key)\"; it has \(names(members)). Set tokenKey")
        }
        guard let token = value.stringValue else {
            throw unusable("gave \(value.kind) under \"\(key)\"; expected the token as a string. Set tokenKey")
        }
        guard !token.isEmpty else { throw unusable("gave an empty token under \"\(key)\"") }
        return token
    }

    private static func expiry(
        in answer: JSONValue, _ format: TokenAnswerFormat, _ unusable: (String) -> AuthorizationError
    ) throws(AuthorizationError) -> Double? {
        guard let value = answer[path: format.expirationKey], !value.isNull else { return nil }
        guard let number = value.numericValue else {
            throw unusable(
                "gave \(value.kind) under \"\(format.expirationKey)\"; expected a number. Set expirationKey")
        }
        return number
    }

    /// Key names, for the operator who looks for the right one.
    private static func names(_ members: [String: JSONValue]) -> String {
        guard !members.isEmpty else { return "no keys" }
        let shown = members.keys.sorted().prefix(8).map { "\"\($0.prefix(40))\"" }
        return shown.joined(separator: ", ") + (members.count > 8 ? " and \(members.count - 8) more" : "")
    }
}
