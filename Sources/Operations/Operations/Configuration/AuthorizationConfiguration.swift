package import BackendAuthorization
package import HTTPMessages
import ReportedText
import StrictJSON
import VehicleAuthorization

/// The configured token provider.
package enum AuthorizationConfiguration: Sendable, Hashable {
    case http(HTTPTokenSettings, TokenEndpointTrust)
    case command(arguments: [String], environment: [String: Secret], format: TokenAnswerFormat, timeout: Duration)
    case file(path: String, format: TokenAnswerFormat)

    /// The format of the provider's response, which contains the token and its expiry.
    var format: TokenAnswerFormat {
        switch self {
        case .http(let settings, _): settings.format
        case .command(_, _, let format, _), .file(_, let format): format
        }
    }

    /// A description of the provider: the origin of its URL, the program of its command, or the path of its file. The
    /// rest may be secret and is left out, as is a URL that comes from a credential.
    package var providerDescription: String {
        switch self {
        case .http(let settings, _):
            settings.urlSource.map { "the URL in \($0)" } ?? (try? HTTPURL(settings.url.withPlaceholdersFilled))?.origin
                ?? "a token endpoint"
        case .command(let arguments, _, _, _): "command \(arguments.first ?? "")"
        case .file(let path, _): "file \(path)"
        }
    }

    /// The values of `authorization.type`.
    enum Kind: String, CaseIterable { case http, command, file }
}

extension AuthorizationConfiguration {
    /// Reads the section `authorization`, or, if `isForConsumers` is `true`, `consumerAuthorization`, which configures
    /// the provider of consumer tokens. The result is `nil` if the type is missing or unknown.
    init?(_ root: inout ConfigurationSection, forConsumers isForConsumers: Bool = false) {
        var section =
            isForConsumers
            ? root.section("consumerAuthorization", "the provider of consumer tokens, for waypost watch --trip")
            : root.section("authorization", isRequired: true, "the provider of the vehicle's tokens")
        if isForConsumers { section.placeholders = ["tripId", "providerId"] }
        // A type of `service_account` means that the user has pasted a key file from Google's console.
        if section.readMember("type")?.stringValue == "service_account" {
            section.reportProblem(
                with: "type",
                "is a service account, whose key must not be in a vehicle; have your backend sign the tokens, and write "
                    + "\"http\" with its \"url\"")
            return nil
        }
        guard let kind: Kind = section.choice("type", "where tokens come from: a backend, a program or a file") else {
            return nil
        }
        defer { section.finish() }
        switch kind {
        case .http:
            let settings = HTTPTokenSettings(&section)
            var trust = TokenEndpointTrust(&section)
            trust.proxy = section.proxy(to: try? HTTPURL(settings.url.withPlaceholdersFilled))
            self = .http(settings, trust)
        case .command:
            self = .command(
                arguments: section.strings("command", "the program and its arguments, which may contain placeholders"),
                environment: Dictionary(
                    section.secrets(
                        "environment", allowsSchemes: false, "the variables to add to the program's environment"
                    )
                    .map { ($0.name, $0.secret) }, uniquingKeysWith: { $1 }),
                format: TokenAnswerFormat(&section),
                timeout: section.seconds(
                    "timeoutSeconds", in: 1...120, default: 15,
                    "the time limit after which the program and everything that it started are killed"))
        case .file:
            self = .file(
                path: section.template("path", "the token file, which another program replaces from time to time"),
                format: TokenAnswerFormat(&section))
        }
    }
}

/// The PEM files and the proxy for connections to the token endpoint.
package struct TokenEndpointTrust: Sendable, Hashable {
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    package var proxy: HTTPProxy?

    init(_ section: inout ConfigurationSection) {
        caFile = section.optionalString(
            "caFile", "the PEM file with the certificate authorities to trust instead of the system's")
        clientCertificateFile = section.optionalString(
            "clientCertificateFile", "the PEM file with the client's certificate")
        clientKeyFile = section.optionalString(
            "clientKeyFile", "the PEM file with the certificate's key, without a pass phrase")
        if (clientCertificateFile == nil) != (clientKeyFile == nil) {
            section.reportProblem(
                with: clientKeyFile == nil ? "clientKeyFile" : "clientCertificateFile",
                "is missing; a client certificate needs both clientCertificateFile and clientKeyFile")
        }
    }
}

extension HTTPTokenSettings {
    /// The values of `method`.
    private enum Method: String, CaseIterable { case get = "GET", post = "POST", put = "PUT" }

    init(_ section: inout ConfigurationSection) {
        // Placeholders are filled in for the check, because a URL can't contain their braces.
        let url = section.url(
            "url", ifMissing: "write your token endpoint's address, in quotes",
            "the token endpoint's URL, which may contain placeholders"
        ) { (text) throws(HTTPURL.Problem) in
            _ = try HTTPURL(text.withPlaceholdersFilled)
            return text
        }
        if let url { section.reportUnknownPlaceholders(in: url, under: "url") }
        let method = section.choice("method", default: Method.get, "the method of the request")
        let body = section.optionalSecret("body", "the body of a POST or PUT request, which may contain placeholders")
        if body != nil, method == .get, !section.isRejected("method") {
            section.reportProblem(
                with: "body", "is not sent with the method GET; set \"method\" to \"POST\" or \"PUT\"")
        }
        section.reportRepeatedHeaders()
        self.init(
            url: url ?? "", method: HTTPMethod(rawValue: method.rawValue) ?? .get,
            headers: section.secrets("headers", allowsSchemes: true, "the headers of the request").map {
                name, secret, scheme in
                section.reportProblems(ofHeader: name, secret: secret)
                return HeaderTemplate(name, secret, scheme: scheme)
            }, body: body, format: TokenAnswerFormat(&section))
        if let members = section.readMember("url")?.objectValue, let reference = ValueReference(members),
            case .credential = reference
        {
            urlSource = reference.description
        }
        limits.total = section.seconds(
            "timeoutSeconds", in: 1...120, default: 15, "the time limit for one request, including connecting")
    }
}

extension ConfigurationSection {
    /// Reports headers whose names differ only in case, because such names are equal (RFC 9110 section 5.1).
    fileprivate mutating func reportRepeatedHeaders() {
        guard case .object(let headers)? = readMember("headers") else { return }
        let names = Dictionary(grouping: headers.keys.sorted()) { $0.lowercased() }
        for same in names.values where same.count > 1 {
            reportProblem(with: "headers.\(same[1])", "is the same header as \(same[0]); remove one of them")
        }
    }

    /// Reports a header that can't be sent, or whose credentials contain an unexpanded variable or aren't encoded.
    fileprivate func reportProblems(ofHeader name: String, secret: Secret) {
        let key = "headers.\(name)"
        if name.isEmpty || !name.utf8.allSatisfy(HTTPHeaders.isTokenByte) {
            reportProblem(with: key, "isn't a valid header name; use letters, digits and hyphens")
        }
        if ["connection", "content-length", "transfer-encoding"].contains(name.lowercased()) {
            reportProblem(with: key, "is set by Waypost itself; remove it")
        }
        guard case .literal(let text) = secret else { return }
        if text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            reportProblem(with: key, "has a line break or another control character; remove it")
        }
        let problem = HeaderTemplate.problem(ofCredentials: text, inHeader: name)
        if problem == .unexpandedVariable {
            reportProblem(
                with: key,
                "contains a variable in ${}, which is not expanded; write {\"environment\": NAME, \"scheme\": "
                    + "\"bearer\"}")
        }
        if problem == .missingScheme || text.lowercased().hasPrefix("basic ") && text.contains(":") {
            reportProblem(
                with: key, "has an unencoded user and password; write {\"file\": PATH, \"scheme\": \"basic\"}")
        }
    }
}

extension TokenAnswerFormat {
    /// Reads the preset `tokenShape` and the keys that override parts of it.
    init(_ section: inout ConfigurationSection) {
        let shape = section.choice(
            "tokenShape", default: Shape.guide,
            "the preset of tokenKey, expirationKey and expirationFormat for the answers of a Google sample"
        ).format
        self.init(
            tokenKey: section.string(
                "tokenKey", default: shape.tokenKey,
                "the key of the token in a JSON answer, or a path such as data.token"),
            expirationKey: section.string(
                "expirationKey", default: shape.expirationKey,
                "the key of the expiry in a JSON answer; an answer may omit it"),
            expirationFormat: section.choice(
                "expirationFormat", default: shape.expirationFormat, "the format of the expiry"))
    }
}

extension ConfigurationSection {
    /// Returns the secret under `key`: a text, or a reference that is resolved each time the secret is used. Returns
    /// `nil` if the key is missing.
    mutating func optionalSecret(_ key: String, _ description: String) -> Secret? {
        declare(key, .secret, isSecret: true, description)
        guard let value = readMember(key) else {
            recordValue(key, nil, isPresent: false)
            return nil
        }
        if let members = value.objectValue, ValueReference(members) == nil {
            reportProblem(
                with: key,
                #"is an object; write its JSON as one string, such as "{ \"vehicle\": \"{vehicleId}\" }", or use "#
                    + ValueReference.forms)
            return nil
        }
        return secret(from: value, under: key)?.secret
    }

    /// Returns the secrets in the object under `key`, with their names. If `allowsSchemes` is `true`, each secret may
    /// have an authentication scheme.
    mutating func secrets(
        _ key: String, allowsSchemes: Bool, _ description: String
    ) -> [(name: String, secret: Secret, scheme: HeaderTemplate.Scheme)] {
        declare(key, .secrets(asHeaders: allowsSchemes), isSecret: true, description)
        if !has(key) { recordValue(key, nil, isPresent: false) }
        return entries(key).compactMap { name, value in
            secret(from: value, under: "\(key).\(name)", allowsSchemes: allowsSchemes).map {
                (name, $0.secret, $0.scheme)
            }
        }
    }

    private func secret(
        from value: JSONValue, under key: String, allowsSchemes: Bool = false
    ) -> (secret: Secret, scheme: HeaderTemplate.Scheme)? {
        if let text = value.stringValue {
            recordValue(key, ConfigurationSetting.redacted, isPresent: true)
            return (.literal(text), .verbatim)
        }
        var members = value.objectValue ?? [:]
        var scheme: HeaderTemplate.Scheme? = .verbatim
        let known = HeaderTemplate.Scheme.allCases.map { "\"\($0.rawValue)\"" }
        if allowsSchemes, let word = members.removeValue(forKey: "scheme") {
            scheme = word.stringValue.flatMap(HeaderTemplate.Scheme.init)
            if scheme == nil { reportProblem(with: "\(key).scheme", "isn't a scheme; use \(Self.alternatives(known))") }
        }
        if let reference = ValueReference(members) {
            recordValue(key, ConfigurationSetting.redacted, isPresent: true, from: reference)
            return scheme.map { (Secret(reference), $0) }
        }
        // The message doesn't quote the value, because it may be a secret.
        reportProblem(
            with: key,
            "is \(value.kind), but neither a string nor a valid reference; use a string, \(ValueReference.forms)"
                + (allowsSchemes ? "; each of these objects may also have \"scheme\" \(Self.alternatives(known))" : ""))
        return nil
    }

    /// Returns the URL under `key`, converted by `convert`. Messages about problems show neither the URL's credentials
    /// nor its query.
    mutating func url<Value>(
        _ key: String, default fallback: String? = nil, ifMissing advice: String? = nil, _ description: String,
        _ convert: (String) throws(HTTPURL.Problem) -> Value
    ) -> Value? {
        convertedText(key, default: fallback, ifMissing: advice, redactedBy: Self.withoutSecrets, description, convert)
    }

    /// Returns `url` without its credentials and without anything after its path. `url` may be malformed.
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
    /// The text with each placeholder replaced by `x`, so that it can be checked as a URL.
    var withPlaceholdersFilled: String { placeholders.rest }

    /// The names of the placeholders, which are in braces, and the text with each placeholder replaced by `x`.
    fileprivate var placeholders: (words: [String], rest: String) {
        var words: [String] = []
        var filled = ""
        var rest = self[...]
        while let close = rest.firstIndex(of: "}"), let open = rest[..<close].lastIndex(of: "{") {
            words.append(String(rest[rest.index(after: open)..<close]))
            filled += rest[..<open] + "x"
            rest = rest[rest.index(after: close)...]
        }
        return (words, filled + rest)
    }
}

extension ConfigurationSection {
    /// Returns the string under `key`, which may contain the section's placeholders. Reports any other word in braces.
    mutating func template(_ key: String, _ description: String) -> String {
        let text = string(key, as: "/run/vehicle-token.jwt", description)
        reportUnknownPlaceholders(in: text, under: key)
        return text
    }

    /// Reports unmatched braces, and words in braces that aren't placeholders of the section.
    func reportUnknownPlaceholders(in text: String, under key: String) {
        let known = placeholders.map { "{\($0)}" }.joined(separator: " or ")
        let (words, rest) = text.placeholders
        if rest.contains(where: { $0 == "{" || $0 == "}" }) {
            reportProblem(with: key, "has an unmatched brace; write \(known)")
        }
        for word in words where !placeholders.contains(word) {
            reportProblem(with: key, "contains the unknown placeholder {\(word)}; use \(known)")
        }
    }
}
