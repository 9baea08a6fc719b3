import HTTPMessages
import LinuxPlatform
import ReportedText
package import VehicleAuthorization

/// A request header whose value may be a secret.
package struct HeaderTemplate: Sendable, Hashable {
    /// The format of the header's value, which contains the secret.
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        case verbatim
        /// `Bearer` followed by the secret.
        case bearer
        /// `Basic` followed by the secret in base64. The secret is `user:password`.
        case basic
    }

    package var name: String
    package var secret: Secret
    package var scheme: Scheme

    package init(_ name: String, _ secret: Secret, scheme: Scheme = .verbatim) {
        self.name = name
        self.secret = secret
        self.scheme = scheme
    }

    /// Checks that the header's value can be read and is valid. Throws the same errors as `value`.
    package func validate() throws(AuthorizationError) {
        _ = try value(environment: ProcessEnvironment.variables)
    }

    /// A warning about a value that is sent unchanged but has quotes around it, which were probably copied from a
    /// settings file; otherwise `nil`.
    package var quotesWarning: String? {
        guard scheme == .verbatim, let text = try? value(environment: ProcessEnvironment.variables).value,
            [text[...], text.split(separator: " ").last ?? ""].contains(where: \.isInQuotes)
        else { return nil }
        return
            "header \(name) uses \(secret.sourceName) with quotes around the value, which are also sent; remove the quotes unless "
            + "they belong to the value"
    }

    /// Returns the value to send, and the secret in it. May read a file, so don't call it on the cooperative thread
    /// pool.
    ///
    /// - Throws: `.misconfigured`. The error names the header and the secret's source, but never contains the value.
    func value(environment: [String: String]) throws(AuthorizationError) -> (value: String, secret: String) {
        let secret = try secret.text(for: "header \(name)", environment: environment)
        func fault(_ problem: SourceFault.Problem) -> AuthorizationError {
            AuthorizationError(.sourceUnusable(SourceFault("header \(name)", self.secret.source, problem)))
        }
        if let problem = Self.problem(ofHeaderValue: secret)
            ?? (scheme == .verbatim ? Self.problem(ofCredentials: secret, inHeader: name) : nil)
        {
            throw fault(problem)
        }
        switch scheme {
        case .verbatim: return (secret, secret)
        case .bearer:
            // Some users store `Bearer` together with the key.
            let key = FoundToken.strippingBearer(secret)
            guard !key.contains(where: { $0.isWhitespace || $0 == "\"" }) else { throw fault(.invalidKey) }
            return ("Bearer \(key)", key)
        case .basic:
            guard secret.contains(":") else { throw fault(.invalidPair) }
            return ("Basic \(Base64.encoded(secret.utf8))", secret)
        }
    }

    /// Returns the reason why `text` can't be the value of the header `name`, if that is `Authorization` or
    /// `Proxy-Authorization`. Returns `nil` if `text` is a possible value, and for any other header.
    package static func problem(ofCredentials text: String, inHeader name: String) -> SourceFault.Problem? {
        guard ["authorization", "proxy-authorization"].contains(name.lowercased()) else { return nil }
        if text.contains("${") { return .unexpandedVariable }
        return text.contains(":") && !text.contains(" ") ? .missingScheme : nil
    }

    /// Returns the reason why a header can't contain `text`; `nil` if it can.
    private static func problem(ofHeaderValue text: String) -> SourceFault.Problem? {
        if text.contains("\"private_key\"") { return .serviceAccountKey }
        let scalars = text.unicodeScalars
        // A zero character indicates UTF-16. U+FFFD stands for bytes that weren't UTF-8.
        if scalars.contains(where: { $0.value == 0 || $0 == "\u{FFFD}" }) { return .notUTF8 }
        return scalars.contains { $0 == "\n" || $0 == "\r" } ? .multipleLines : nil
    }
}

extension StringProtocol {
    /// Whether the text is enclosed in quotes, as values in settings files and shell scripts often are.
    package var isInQuotes: Bool { count > 1 && first == last && (first == "\"" || first == "'") }
}

/// The values of the placeholders `{vehicleId}`, `{providerId}`, `{taskId}`, `{tripId}` and `{trackingId}` in strings
/// of the configuration.
struct Placeholders {
    /// The encoding of a placeholder's value. It prevents the value from changing the meaning of the text around it.
    enum Encoding {
        /// Percent-encoding for a URL or a path. Unknown placeholders are rejected, because braces have no other
        /// meaning there.
        case percent
        /// Percent-encoding for the body of a form.
        case form
        /// JSON escapes for a body that isn't a form.
        case json
        case verbatim
    }

    let providerID: String
    let context: AuthorizationContext

    /// Returns `template` with every placeholder replaced.
    ///
    /// - Throws: `.misconfigured` for an unknown placeholder in a URL or a path, `.missingContext` for a placeholder
    ///   that has no value in the context.
    func expanding(_ template: String, encoding: Encoding, key: String) throws(AuthorizationError) -> String {
        var result = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            let value: String?
            switch name {
            case "vehicleId": value = context.vehicleID.isEmpty ? nil : context.vehicleID
            case "providerId": value = providerID
            case "taskId": value = context.taskID
            case "tripId": value = context.tripID
            case "trackingId": value = context.trackingID
            default:
                // A body may be JSON, in which a brace needn't begin a placeholder.
                guard encoding != .percent else {
                    throw AuthorizationError(.invalidSetting(key: key, .unknownPlaceholder(String(name))))
                }
                result += rest[...open]
                rest = rest[rest.index(after: open)...]
                continue
            }
            guard let value else {
                throw AuthorizationError(
                    .invalidSetting(key: key, .noValue(placeholder: String(name), context)))
            }
            result += rest[..<open] + Self.encoded(value, as: encoding)
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    private static func encoded(_ value: String, as encoding: Encoding) -> String {
        switch encoding {
        case .percent, .form: HTTPURL.percentEncoded(value)
        case .verbatim: value
        case .json:
            value.unicodeScalars.reduce(into: "") { text, scalar in
                switch scalar {
                case "\"", "\\": text += "\\\(scalar)"
                case "\u{0}"..."\u{1F}":
                    let digits = String(scalar.value, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
