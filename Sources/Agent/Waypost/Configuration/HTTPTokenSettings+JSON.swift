import BackendAuthorization
import HTTPMessages

extension HTTPTokenSettings {
    /// Methods that a token endpoint may want.
    private enum Method: String, CaseIterable { case get = "GET", post = "POST", put = "PUT" }

    init(_ section: inout ConfigurationSection) {
        // The placeholders are not allowed in a URL; what is left without them must be one.
        let url = section.url("url") { (text) throws(HTTPURL.Problem) in
            _ = try HTTPURL(text.replacing(/\{[^{}]*\}/, with: "x"))
            return text
        }
        if let url { section.reportUnknownPlaceholders(in: url, "url") }
        let method = section.choice("method", default: Method.get) ?? .get
        let body = section.optionalSecret("body")
        if body != nil, method == .get {
            section.report("body", "is not sent with the method GET; set \"method\" to \"POST\" or \"PUT\"")
        }
        self.init(
            url: url ?? "", method: HTTPMethod(rawValue: method.rawValue) ?? .get,
            headers: section.secrets("headers", schemes: true).map { name, secret, scheme in
                HeaderTemplate(name, secret, scheme: scheme)
            }, body: body, format: TokenAnswerFormat(&section))
        limits.total = section.seconds("timeoutSeconds", in: 1...120, default: 15)
    }
}
