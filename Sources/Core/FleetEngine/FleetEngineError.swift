package import ReportedText
import StrictJSON

/// The error in the body of a Google API's response (API design guide, "Errors"). It explains why a request was
/// rejected.
package struct FleetEngineError: Sendable, Hashable {
    /// The delay before the next attempt, from `google.rpc.RetryInfo`; `nil` if the error contains none.
    package let retryDelay: Duration?
    /// A problem with the Google Cloud project, which no other token can solve. It is taken from `google.rpc.ErrorInfo`
    /// or else from the message; `nil` if there is no such problem.
    package let projectFault: ProjectFault?
    /// The canonical code (such as `INVALID_ARGUMENT`), the message, and the faulty fields (from
    /// `google.rpc.BadRequest`), on one line.
    package let summary: ReportedText

    /// A problem with the Google Cloud project. The raw value is the reason in `google.rpc.ErrorInfo`.
    package enum ProjectFault: String, Sendable, Hashable {
        case serviceDisabled = "SERVICE_DISABLED"
        case billingDisabled = "BILLING_DISABLED"
    }

    /// Parses an error body. Returns `nil` for anything else, such as HTML or another program's JSON.
    ///
    /// `secrets` are the secrets of the request, which are removed from the summary.
    package init?(_ body: [UInt8], without secrets: [String]) {
        guard let answer = try? JSONValue(parsing: body).decoded(as: ErrorBody.self) else { return nil }
        let status = answer.error.status ?? ""
        let message = answer.error.message ?? ""
        let details = answer.error.details ?? []
        retryDelay = details.lazy.compactMap { $0.retryDelay.flatMap(Self.parsedDuration) }.first
        projectFault =
            details.lazy.compactMap { $0.reason.flatMap(ProjectFault.init) }.first
            ?? (message.contains("has not been used in project") ? .serviceDisabled : nil)
        let violations = details.flatMap { $0.fieldViolations ?? [] }
            .map { "\($0.field ?? "?"): \($0.description ?? "")" }
        // Each text may end with a full stop, which is removed before the texts are joined with semicolons.
        let line = ([message] + violations).filter { !$0.isEmpty }
            .map { $0.hasSuffix(".") ? $0.dropLast() : $0[...] }.joined(separator: "; ")
        summary = ReportedText(
            status.isEmpty ? line : line.isEmpty ? status : "\(status): \(line)", without: secrets)
    }

    /// Whether the message indicates that the token was rejected because of one of its times, such as its expiry.
    package var namesTime: Bool {
        summary.description.lowercased().split { !$0.isLetter }
            .contains { ["iat", "exp", "nbf", "expired", "clock"].contains($0) }
    }

    /// Parses a duration in protobuf's JSON form, such as `2.500s`. Returns `nil` for any other text, and for a
    /// duration that is negative or longer than a day.
    static func parsedDuration(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), (0...86_400).contains(seconds) else {
            return nil
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    private struct ErrorBody: Decodable {
        let error: ErrorContent
    }

    private struct ErrorContent: Decodable {
        let status: String?
        let message: String?
        let details: [Detail]?
    }

    /// A detail of an error. This type contains the members of all kinds of details that are used; other kinds are
    /// ignored.
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
