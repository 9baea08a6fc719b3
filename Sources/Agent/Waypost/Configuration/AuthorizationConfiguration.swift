package import BackendAuthorization

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

    /// The words of `authorization.type`.
    enum Kind: String, CaseIterable { case http, command, file }
}

extension AuthorizationConfiguration {
    /// `nil` when the type is missing or none of Waypost's.
    ///
    /// `forConsumers`: reads `consumerAuthorization`, whose tokens are for a trip.
    init?(_ root: inout ConfigurationSection, forConsumers: Bool = false) {
        var section = root.section(forConsumers ? "consumerAuthorization" : "authorization", isRequired: true)
        if forConsumers { section.placeholders = ["tripId", "providerId"] }
        guard let kind = section.choice("type", default: Kind?.none) else { return nil }
        defer { section.finish() }
        switch kind {
        case .http: self = .http(HTTPTokenSettings(&section), TokenEndpointTrust(&section))
        case .command:
            self = .command(
                arguments: section.strings("command"),
                environment: Dictionary(
                    section.secrets("environment", schemes: false).map { ($0.name, $0.secret) },
                    uniquingKeysWith: { $1 }),
                format: TokenAnswerFormat(&section),
                timeout: section.seconds("timeoutSeconds", in: 1...120, default: 15))
        case .file: self = .file(path: section.template("path"), format: TokenAnswerFormat(&section))
        }
    }
}
