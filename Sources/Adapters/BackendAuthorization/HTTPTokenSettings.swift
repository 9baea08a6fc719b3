package import HTTPMessages

/// A backend's token endpoint and how it is asked.
package struct HTTPTokenSettings: Sendable, Hashable {
    /// The address; `{providerId}`, and `{vehicleId}`, `{taskId}`, `{tripId}`, `{trackingId}` where the context has
    /// them, are replaced, percent-encoded, anywhere in it.
    package var url: String
    package var method: HTTPMethod
    package var headers: [HeaderTemplate]
    /// Sent with the same placeholders replaced: percent-encoded in a form, escaped in anything else (JSON).
    package var body: Secret?
    package var format: TokenAnswerFormat
    package var limits: HTTPLimits

    package init(
        url: String, method: HTTPMethod = .get, headers: [HeaderTemplate] = [], body: Secret? = nil,
        format: TokenAnswerFormat = TokenAnswerFormat(), limits: HTTPLimits = HTTPLimits(responseBytes: 64 * 1024)
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.format = format
        self.limits = limits
    }
}
