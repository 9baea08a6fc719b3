import ReportedText
import StrictJSON
import TimeAndRandomness
import VehicleAuthorization

/// A JSON Web Token in an issuer's answer: either under its key in a JSON object, or as the whole answer.
struct FoundToken: Sendable {
    /// The token, without white space at either end.
    let text: String
    let place: AnswerFault.Place
    /// The expiry that a JSON answer states next to the token; `nil` if it states none.
    private(set) var statedExpiry: JSONValue?

    init(in bytes: [UInt8], format: TokenAnswerFormat, from origin: TokenAnswer.Origin) throws(AnswerFault) {
        switch AnswerKind(bytes) {
        case .nothing: throw .nothing(isNull: bytes.contains(UInt8(ascii: "n")))
        case .page: throw .page
        case .gzip: throw .gzip
        case .utf16: throw .utf16
        case .text(let content):
            text = Self.strippingBearer(content)
            place = .bareText
            guard text.hasPrefix("ey") else {  // `{"` in base64url, with which every token begins
                if let lookalike = AnswerFault.Lookalike(text) { throw .lookalike(lookalike, place) }
                let hasLines = text.utf8.contains(UInt8(ascii: "\n"))
                throw .otherText(bytes: bytes.count, mediaType: origin.reportedMediaType, hasLines: hasLines)
            }
        case .json(let document):
            let answer: JSONValue
            do { answer = try JSONValue(parsing: document) } catch {
                throw .invalidJSON(
                    AnswerFault.Mistake(in: document), line: error.line, column: error.column, bytes: bytes.count,
                    mediaType: origin.reportedMediaType)
            }
            if let bare = answer.stringValue {
                text = Self.strippingBearer(bare)
                place = .jsonString
            } else {
                text = try Self.token(in: answer, under: format.tokenKey, from: origin)
                place = .underKey
                statedExpiry = answer[path: format.expirationKey]
            }
        }
    }

    private static func token(
        in answer: JSONValue, under key: String, from origin: TokenAnswer.Origin
    ) throws(AnswerFault) -> String {
        guard let members = answer.objectValue else { throw .notAnObject(kind: answer.kind) }
        guard let value = answer[path: key] else { throw AnswerFault(missingIn: members, from: origin) }
        guard let token = value.stringValue else {
            throw .notAString(kind: value.kind, value.isNull ? .nothing : AnswerFault.Members(members, from: origin))
        }
        let text = strippingBearer(token)
        guard !text.isEmpty else { throw .emptyToken }
        return text
    }

    /// Returns the parsed token. Rejects a token that was cut off or never signed.
    func parsed() throws(AnswerFault) -> JSONWebToken {
        let token: JSONWebToken
        do { token = try JSONWebToken(text) } catch {
            throw AnswerFault.Lookalike(text).map { .lookalike($0, place) } ?? .notAToken(error, place)
        }
        let signature = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last
        let bytes = (signature?.count ?? 0) * 3 / 4
        let algorithm = token.header["alg"]?.stringValue
        // A token whose header states the algorithm `none` is rejected later, by `ClaimRules`.
        if bytes == 0, algorithm != "none" { throw .unsigned(place) }
        // RS256 requires keys of at least 2048 bits (RFC 7518, section 3.3).
        if bytes < 256, algorithm == "RS256" { throw .shortSignature(bytes: bytes, place) }
        return token
    }

    /// Returns the text without white space at either end, and without a leading `Bearer`, which precedes a token in a
    /// header.
    static func strippingBearer(_ text: String) -> String {
        let token = text.trimmingWhitespace()
        let scheme = "Bearer "
        guard token.prefix(scheme.count).lowercased() == scheme.lowercased() else { return token }
        return String(token.dropFirst(scheme.count)).trimmingWhitespace()
    }
}

extension AnswerFault.Mistake {
    fileprivate init(in document: [UInt8]) {
        if document.dropFirst().first(where: { $0 > 0x20 }) == UInt8(ascii: "'") {
            self = .singleQuotes
        } else {
            self = String(validating: document, as: UTF8.self) == nil ? .encoding : .other
        }
    }
}

/// The kind of an issuer's answer, recognised by its first bytes.
enum AnswerKind: Sendable, Hashable {
    case nothing
    /// An HTML or XML page.
    case page
    case gzip
    case utf16
    /// JSON that begins with its first brace, bracket or quotation mark.
    case json([UInt8])
    /// Any other text, without white space at either end.
    case text(String)

    init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
            return
        }
        // UTF-16 begins with a byte order mark, or with an ASCII character and a zero byte in either order.
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0) && max(bytes[0], bytes[1]) >= 0x20
        {
            self = .utf16
            return
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop {
            $0 == 0x20 || $0 == 0 || 9...13 ~= $0
        }
        switch content.first {
        case nil: self = .nothing
        case UInt8(ascii: "<"): self = .page
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): self = .json(Array(content))
        default:
            let text = String(decoding: content, as: UTF8.self).trimmingWhitespace()
            self = text == "null" ? .nothing : .text(text)
        }
    }
}

extension JSONValue {
    /// The value under `path`, which is either one key or several keys separated by dots, such as `data.token.jwt`.
    subscript(path path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.firstIndex(of: ".") else { return nil }
        return self[String(path[..<dot])]?[path: String(path[path.index(after: dot)...])]
    }
}
