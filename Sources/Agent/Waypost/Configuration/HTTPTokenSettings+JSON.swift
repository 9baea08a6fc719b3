import BackendAuthorization
import HTTPMessages
import StrictJSON

extension HTTPTokenSettings {
    /// Methods that a token endpoint may want.
    private enum Method: String, CaseIterable { case get = "GET", post = "POST", put = "PUT" }

    init(_ section: inout ConfigurationSection) {
        // The placeholders are not allowed in a URL; what is left without them must be one.
        let url = section.converted("url") { (text) throws(HTTPURL.Problem) in
            _ = try HTTPURL(text.replacing(/\{[^{}]*\}/, with: "x"))
            return text
        }
        if let url { section.reportUnknownPlaceholders(in: url, "url") }
        let method = section.choice("method", default: Method.get) ?? .get
        self.init(
            url: url ?? "", method: HTTPMethod(rawValue: method.rawValue) ?? .get, headers: Self.headers(&section),
            body: section.optionalString("body"), format: TokenAnswerFormat(&section))
        limits.total = section.seconds("timeoutSeconds", in: 1...120, default: 15)
    }

    private static func headers(_ section: inout ConfigurationSection) -> [HeaderTemplate] {
        section.entries("headers").compactMap { name, value in
            if let text = value.stringValue { return HeaderTemplate(name, .literal(text)) }
            if let members = value.objectValue, members.count == 1 {
                if let path = members["file"]?.stringValue { return HeaderTemplate(name, .file(path)) }
                if let variable = members["environment"]?.stringValue {
                    return HeaderTemplate(name, .environment(variable))
                }
            }
            section.report(
                "headers.\(name)", "is \(value.kind); use a text, {\"file\": PATH} or {\"environment\": NAME}")
            return nil
        }
    }
}
