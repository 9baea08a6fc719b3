package import ReportedText
import StrictJSON

/// The error body of a Google API (API design guide, "Errors"), which explains a rejection.
package struct FleetEngineError: Sendable, Hashable {
    /// The delay in `google.rpc.RetryInfo`; `nil` if there is none.
    package let retryDelay: Duration?
    /// The fault of the project, independent of its tokens, from `google.rpc.ErrorInfo` or the message; `nil` if there
    /// is none.
    package let projectFault: ProjectFault?
    /// The name of the canonical code (such as `INVALID_ARGUMENT`), the message, and the faulty fields
    /// (`google.rpc.BadRequest`), on one line.
    package let summary: ReportedText

    /// A fault of the project. The raw value is the reason in `google.rpc.ErrorInfo`.
    package enum ProjectFault: String, Sendable, Hashable {
        case serviceDisabled = "SERVICE_DISABLED"
        case billingDisabled = "BILLING_DISABLED"
    }

    /// Parses an error body; `nil` for anything else, such as HTML or another program's JSON.
    ///
    /// `secrets` are the secrets in the request, which are removed from the text.
    package init?(_ body: [UInt8], without secrets: [String]) {
        guard let answer = try? JSONValue(parsing: body).decoded(as: Answer.self) else { return nil }
        let status = answer.error.status ?? ""
        let message = answer.error.message ?? ""
        let details = answer.error.details ?? []
        retryDelay = details.lazy.compactMap { $0.retryDelay.flatMap(Self.duration) }.first
        projectFault =
            details.lazy.compactMap { $0.reason.flatMap(ProjectFault.init) }.first
            ?? (message.contains("has not been used in project") ? .serviceDisabled : nil)
        let violations = details.flatMap { $0.fieldViolations ?? [] }
            .map { "\($0.field ?? "?"): \($0.description ?? "")" }
        // The server's message may consist of full sentences, so its final full stop is removed before more text.
        let line = ([message] + violations).filter { !$0.isEmpty }
            .map { $0.hasSuffix(".") ? $0.dropLast() : $0[...] }.joined(separator: "; ")
        summary = ReportedText(
            status.isEmpty ? line : line.isEmpty ? status : "\(status): \(line)", without: secrets)
    }

    /// Whether the message indicates that the token was rejected because of its times.
    package var namesTime: Bool {
        summary.description.lowercased().split { !$0.isLetter }
            .contains { ["iat", "exp", "nbf", "expired", "clock"].contains($0) }
    }

    /// Parses protobuf's JSON form of a duration, such as `2.500s`; `nil` for negative durations and any other text.
    static func duration(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), (0...86_400).contains(seconds) else {
            return nil
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    private struct Answer: Decodable {
        let error: Content
    }

    private struct Content: Decodable {
        let status: String?
        let message: String?
        let details: [Detail]?
    }

    /// The members of all kinds of details. Unknown kinds are ignored.
    private struct Detail: Decodable {
        let retryDelay: String?
        let reason: String?
        let fieldViolations: [Violation]?
    }

    private struct Violation: Decodable {
        let field: String?
        let description: String?
    }
}
