package import BackendAuthorization
package import HTTPMessages
import ReportedText
import StrictJSON
import VehicleAuthorization

/// Where tokens come from.
package enum AuthorizationConfiguration: Sendable, Hashable {
    case http(HTTPTokenSettings, TokenEndpointTrust)
    case command(arguments: [String], environment: [String: Secret], format: TokenAnswerFormat, timeout: Duration)
    case file(path: String, format: TokenAnswerFormat)

    /// Where token and expiry stand in an answer.
    var format: TokenAnswerFormat {
        switch self {
        case .http(let settings, _): settings.format
        case .command(_, _, let format, _), .file(_, let format): format
        }
    }

    /// A description of where tokens come from: the host of an address, the program of a command. The rest may be
    /// secret, and so may an address that comes from a credential.
    package var provider: String {
        switch self {
        case .http(let settings, _):
            settings.urlSource.map { "the URL in \($0)" } ?? (try? HTTPURL(settings.url.withPlaceholdersFilled))?.origin
                ?? "a token endpoint"
        case .command(let arguments, _, _, _): "command \(arguments.first ?? "")"
        case .file(let path, _): "file \(path)"
        }
    }

    /// The words of `authorization.type`.
    enum Kind: String, CaseIterable {
        case http, command, file

        /// What others call them.
        static let meant: [String: Kind] = [
            "url": .http, "rest": .http, "endpoint": .http, "backend": .http, "script": .command, "exec": .command,
            "program": .command, "shell": .command, "path": .file, "static": .file,
        ]
    }
}

extension AuthorizationConfiguration {
    /// `nil` when the type is missing or none of Waypost's.
    ///
    /// `forConsumers`: reads `consumerAuthorization`, whose tokens are for a trip.
    init?(_ root: inout ConfigurationSection, forConsumers: Bool = false) {
        var section =
            forConsumers
            ? root.section("consumerAuthorization", "where waypost watch --trip gets a trip's tokens")
            : root.section("authorization", isRequired: true, "where tokens come from")
        if forConsumers { section.placeholders = ["tripId", "providerId"] }
        // As the key file that Google's console gives has it.
        if section.member("type")?.stringValue?.lowercased().filter(\.isLetter) == "serviceaccount" {
            section.report(
                "type",
                "is a service account, whose key must not be in a vehicle; let your backend sign the tokens, and write \"http\" "
                    + "with its \"url\"")
            return nil
        }
        guard let kind = section.choice("type", meant: Kind.meant, "where tokens come from") else { return nil }
        defer { section.finish() }
        switch kind {
        case .http:
            let settings = HTTPTokenSettings(&section)
            var trust = TokenEndpointTrust(&section)
            trust.proxy = section.proxy(to: try? HTTPURL(settings.url.withPlaceholdersFilled))
            self = .http(settings, trust)
        case .command:
            self = .command(
                arguments: section.strings(
                    "command", "the program and its arguments, in which placeholders are filled in"),
                environment: Dictionary(
                    section.secrets("environment", schemes: false, "variables to add to the program's environment")
                        .map { ($0.name, $0.secret) }, uniquingKeysWith: { $1 }),
                format: TokenAnswerFormat(&section),
                timeout: section.seconds(
                    "timeoutSeconds", in: 1...120, default: 15,
                    "after that the program and everything that it started are ended"))
        case .file:
            self = .file(
                path: section.template("path", "the file that another program replaces from time to time"),
                format: TokenAnswerFormat(&section))
        }
    }
}

/// Whom to trust, and as whom to appear, at a token endpoint: PEM files; and the proxy in between.
package struct TokenEndpointTrust: Sendable, Hashable {
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    package var proxy: HTTPProxy?

    init(_ section: inout ConfigurationSection) {
        caFile = section.optionalString("caFile", "PEM file of authorities to trust instead of the system's")
        clientCertificateFile = section.optionalString(
            "clientCertificateFile", "PEM file of the client's certificate")
        clientKeyFile = section.optionalString(
            "clientKeyFile", "PEM file of the certificate's key, without a pass phrase")
        if (clientCertificateFile == nil) != (clientKeyFile == nil) {
            section.report(
                clientKeyFile == nil ? "clientKeyFile" : "clientCertificateFile",
                "is missing; a client certificate needs both its file and its key's file")
        }
    }
}

extension HTTPTokenSettings {
    /// Methods that a token endpoint may want.
    private enum Method: String, CaseIterable { case get = "GET", post = "POST", put = "PUT" }

    init(_ section: inout ConfigurationSection) {
        // The placeholders are not allowed in a URL; what is left without them must be one.
        let url = section.url(
            "url", ifMissing: "write your token endpoint's address, in quotes",
            "the token endpoint, in which placeholders are filled in"
        ) { (text) throws(HTTPURL.Problem) in
            _ = try HTTPURL(text.withPlaceholdersFilled)
            return text
        }
        if let url { section.reportUnknownPlaceholders(in: url, "url") }
        let method = section.choice("method", default: Method.get, "of the request")
        let body = section.optionalSecret("body", "what is sent with POST and PUT; placeholders are filled in")
        if body != nil, method == .get, !section.isRejected("method") {
            section.report("body", "is not sent with the method GET; set \"method\" to \"POST\" or \"PUT\"")
        }
        section.reportRepeatedHeaders()
        self.init(
            url: url ?? "", method: HTTPMethod(rawValue: method.rawValue) ?? .get,
            headers: section.secrets("headers", schemes: true, "headers of the request").map { name, secret, scheme in
                section.reportHeader(name, secret)
                return HeaderTemplate(name, secret, scheme: scheme)
            }, body: body, format: TokenAnswerFormat(&section))
        if let members = section.member("url")?.objectValue, let reference = ValueReference(members),
            case .credential = reference
        {
            urlSource = reference.description
        }
        limits.total = section.seconds(
            "timeoutSeconds", in: 1...120, default: 15, "for one request, connecting included")
    }
}

extension ConfigurationSection {
    /// Notes what no request can carry.
    fileprivate func reportHeader(_ name: String, _ secret: Secret) {
        if name.isEmpty || !name.utf8.allSatisfy(HTTPHeaders.isTokenByte) {
            report("headers.\(name)", "is no name of a header; write letters, digits and hyphens, without spaces")
        }
        if ["connection", "content-length", "transfer-encoding"].contains(name.lowercased()) {
            report("headers.\(name)", "is for Waypost to set, as it frames the request; remove it")
        }
        guard case .literal(let text) = secret else { return }
        if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            report("headers.\(name)", "has a line break or another control character; leave it out")
        }
        switch HeaderTemplate.problem(ofCredentials: text, in: name) {
        case .unfilledVariable?:
            report(
                "headers.\(name)",
                "has a variable in ${}, which nothing fills in; write {\"environment\": NAME, \"scheme\": \"bearer\"}")
        case .noScheme?:
            report(
                "headers.\(name)",
                "has a user and a password without a scheme; write {\"file\": PATH, \"scheme\": \"basic\"}")
        default: break
        }
        if text.lowercased().hasPrefix("basic "), text.contains(":") {
            report(
                "headers.\(name)",
                "has a name and its password behind Basic as they are; write {\"file\": PATH, \"scheme\": \"basic\"}, which "
                    + "encodes what the file holds, as name:password")
        }
    }

    /// Notes headers that are one to HTTP, in which their case does not count (RFC 9110 section 5.1).
    fileprivate mutating func reportRepeatedHeaders() {
        guard case .object(let headers)? = member("headers") else { return }
        let names = Dictionary(grouping: headers.keys.sorted()) { $0.lowercased() }
        for same in names.values where same.count > 1 {
            report("headers.\(same[1])", "is the header \(same[0]) again; leave one")
        }
    }
}

extension TokenAnswerFormat {
    /// A ready-made shape, and single keys that differ from it.
    init(_ section: inout ConfigurationSection) {
        let shape = section.choice(
            "tokenShape", default: Shape.guide, "sets the next three keys for the answers of Google's samples"
        ).format
        let tokenKey = section.string(
            "tokenKey", default: shape.tokenKey,
            "the token's key in a JSON answer, or a path such as data.token")
        if tokenKey.split(separator: ".", omittingEmptySubsequences: false).contains(where: { ["", "$"].contains($0) })
        {
            section.report(
                "tokenKey",
                "is \"\(tokenKey)\"; write the names from the top of the answer, with a dot between them, "
                    + "as data.token"
            )
        } else if tokenKey.contains("["), tokenKey.hasSuffix("]") || tokenKey.contains("].") {
            section.report(
                "tokenKey",
                "is \"\(tokenKey)\", in a list, whose elements have no names; let the issuer state the token outside of it"
            )
        }
        self.init(
            tokenKey: tokenKey,
            expirationKey: section.string(
                "expirationKey", default: shape.expirationKey, "the expiry's key, which an answer may lack"),
            expirationFormat: section.choice(
                "expirationFormat", default: shape.expirationFormat, "how the expiry is written"))
    }
}

extension ConfigurationSection {
    /// A text or a reference, fetched when it is used, if there is one.
    mutating func optionalSecret(_ key: String, _ about: String) -> Secret? {
        declare(key, .secret, isSecret: true, about)
        guard let value = member(key) else {
            settle(key, nil, isThere: false)
            return nil
        }
        if let members = value.objectValue, ValueReference(members) == nil,
            members.keys.allSatisfy({ !ValueReference.keys.contains($0) })
        {
            report(
                key,
                "is an object; write its JSON as one text, in quotes, with a backslash before each of its own: "
                    + #""{ \"vehicle\": \"{vehicleId}\" }""#)
            return nil
        }
        return secret(value, key)?.secret
    }

    /// The secrets under `key` by their names, each with its scheme where `schemes` allows one.
    mutating func secrets(
        _ key: String, schemes: Bool, _ about: String
    ) -> [(name: String, secret: Secret, scheme: HeaderTemplate.Scheme)] {
        declare(key, .secrets(asHeaders: schemes), isSecret: true, about)
        if !has(key) { settle(key, nil, isThere: false) }
        return entries(key).compactMap { name, value in
            secret(value, "\(key).\(name)", schemes: schemes).map { (name, $0.secret, $0.scheme) }
        }
    }

    private func secret(
        _ value: JSONValue, _ key: String, schemes: Bool = false
    ) -> (secret: Secret, scheme: HeaderTemplate.Scheme)? {
        if let text = value.stringValue {
            settle(key, ConfigurationSetting.struck, isThere: true)
            return (.literal(text), .verbatim)
        }
        var members = value.objectValue ?? [:]
        var scheme: HeaderTemplate.Scheme? = .verbatim
        if schemes, let word = members.removeValue(forKey: "scheme") {
            scheme = word.stringValue.flatMap(HeaderTemplate.Scheme.init)
            let schemes = HeaderTemplate.Scheme.allCases.map(\.rawValue)
            let guess = word.stringValue.flatMap { Spelling.nearest(to: $0, among: schemes) }
            if scheme == nil {
                report(
                    "\(key).scheme",
                    "is not a scheme; use \(Self.alternatives(schemes.map { "\"\($0)\"" }))"
                        + (guess.map { "; did you mean \"\($0)\"?" } ?? ""))
            }
        }
        if let reference = ValueReference(members) {
            settle(key, ConfigurationSetting.struck, isThere: true, from: reference)
            return scheme.map { (Secret(reference), $0) }
        }
        // Never the value: it may be the secret.
        report(
            key,
            "is \(value.kind) that cannot be used; use a text, \(ValueReference.forms)"
                + (schemes ? ", each of the three with \"scheme\" \"verbatim\", \"bearer\" or \"basic\"" : ""))
        return nil
    }

    /// A URL, of which problems show neither credentials nor the values of its query.
    mutating func url<Value>(
        _ key: String, default fallback: String? = nil, ifMissing advice: String? = nil, _ about: String,
        _ convert: (String) throws(HTTPURL.Problem) -> Value
    ) -> Value? {
        converted(key, default: fallback, ifMissing: advice, shownAs: Self.withoutSecrets, about, convert)
    }

    /// An address, or what was meant as one, without its credentials and whatever follows its path.
    static func withoutSecrets(_ url: String) -> String {
        var shown = url
        if let mark = shown.firstIndex(where: { $0 == "?" || $0 == "#" }) { shown.replaceSubrange(mark..., with: "?…") }
        guard let at = shown.lastIndex(of: "@") else { return shown }
        let start = shown.firstRange(of: "://")?.upperBound ?? shown.startIndex
        if start < at { shown.replaceSubrange(start..<at, with: "…") }
        return shown
    }
}

extension Secret {
    fileprivate init(_ reference: ValueReference) {
        switch reference {
        case .file(let path): self = .file(path)
        case .environment(let name): self = .environment(name)
        case .credential(let name): self = .credential(name)
        }
    }
}

extension String {
    /// An address as a template may become it; placeholders are not allowed in one.
    var withPlaceholdersFilled: String { replacingPlaceholders { _ in "x" } }

    /// The text with what `value` makes of each word in braces in the place of it and its braces.
    fileprivate func replacingPlaceholders(_ value: (Substring) -> String) -> String {
        var result = ""
        var rest = self[...]
        while let close = rest.firstIndex(of: "}") {
            let next = rest.index(after: close)
            if let open = rest[..<close].lastIndex(of: "{") {
                result += rest[..<open] + value(rest[rest.index(after: open)..<close])
            } else {
                result += rest[..<next]
            }
            rest = rest[next...]
        }
        return result + rest
    }
}

extension ConfigurationSection {
    /// A text that may hold the section's placeholders; any other word in braces is a problem.
    mutating func template(_ key: String, _ about: String) -> String {
        let text = string(key, as: "/run/vehicle-token.jwt", about)
        reportUnknownPlaceholders(in: text, key)
        return text
    }

    /// Notes each word in braces that the agent has no value for.
    func reportUnknownPlaceholders(in text: String, _ key: String) {
        var words: [Substring] = []
        let others = text.replacingPlaceholders { word in
            words.append(word)
            return ""
        }
        if others.contains(where: { $0 == "{" || $0 == "}" }) {
            report(
                key,
                "has a brace without its other one; write \(placeholders.map { "{\($0)}" }.joined(separator: " or "))")
        }
        for word in words where !placeholders.contains(String(word)) {
            let known = placeholders.map { "{\($0)}" }.joined(separator: " or ")
            report(key, "has the placeholder {\(word)}; use \(known)")
        }
    }
}
