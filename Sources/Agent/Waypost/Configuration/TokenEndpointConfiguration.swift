import FleetEngine
import HTTPMessages

/// A backend that gives tokens over HTTP.
package struct TokenEndpointConfiguration: Sendable, Hashable {
    /// With `{vehicleId}` and `{providerId}` still in it.
    package var url: String
    package var method: String
    package var headers: [Header]
    package var body: String?
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    package var timeout: Duration
    package var keys: TokenKeys

    /// A request header whose value may be a secret kept elsewhere.
    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: Source
    }

    /// Where a header's value comes from.
    package enum Source: Sendable, Hashable {
        case text(String)
        case file(String)
        case environment(String)
    }
}

extension TokenEndpointConfiguration {
    /// Methods that a token endpoint may want.
    private enum Method: String, CaseIterable { case get = "GET", post = "POST", put = "PUT" }

    init(_ section: inout ConfigurationSection) {
        // The placeholders are not allowed in a URL; what is left without them must be one.
        let checked = section.converted("url") { (text) throws(HTTPURL.Problem) in
            _ = try HTTPURL(text.replacing("{vehicleId}", with: "v").replacing("{providerId}", with: "p"))
            return text
        }
        url = checked ?? ""
        method = (section.choice("method", default: Method.get) ?? .get).rawValue
        body = section.optionalString("body")
        caFile = section.optionalString("caFile")
        clientCertificateFile = section.optionalString("clientCertificateFile")
        clientKeyFile = section.optionalString("clientKeyFile")
        timeout = section.seconds("timeoutSeconds", in: 1...120, default: 15)
        keys = TokenKeys(&section)
        headers = Self.headers(&section)
        if (clientCertificateFile == nil) != (clientKeyFile == nil) {
            section.report(
                clientKeyFile == nil ? "clientKeyFile" : "clientCertificateFile",
                "is missing; a client certificate needs both its file and its key's file")
        }
    }

    private static func headers(_ section: inout ConfigurationSection) -> [Header] {
        section.entries("headers").compactMap { name, value in
            if let text = value.stringValue { return Header(name: name, value: .text(text)) }
            if let members = value.objectValue, members.count == 1 {
                if let path = members["file"]?.stringValue { return Header(name: name, value: .file(path)) }
                if let variable = members["environment"]?.stringValue {
                    return Header(name: name, value: .environment(variable))
                }
            }
            section.report(
                "headers.\(name)",
                "is \(value.kind); use a text, {\"file\": PATH} or {\"environment\": NAME}")
            return nil
        }
    }
}
