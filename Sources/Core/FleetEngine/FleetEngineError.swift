package import ReportedText
import StrictJSON

/// The error body of Google's APIs (API design guide, "Errors"): what a rejection says besides its status code.
package struct FleetEngineError: Sendable, Hashable {
    /// From `google.rpc.RetryInfo`.
    package let retryDelay: Duration?
    /// What the project lacks, whatever its tokens say (`google.rpc.ErrorInfo`, or the message's words).
    package let projectFault: ProjectFault?
    /// The name of the canonical code (`INVALID_ARGUMENT`), the message and what is wrong with which field
    /// (`google.rpc.BadRequest`), on one line.
    package let summary: ReportedText

    /// By its reason's name.
    package enum ProjectFault: String, Sendable, Hashable {
        case serviceDisabled = "SERVICE_DISABLED"
        case billingDisabled = "BILLING_DISABLED"
    }

    /// `nil` when `body` is no such error: HTML, another program's JSON, nothing.
    ///
    /// `secrets`: what the request held that was answered so.
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
        // The server's words may be whole sentences; more follows.
        let line = ([message] + violations).filter { !$0.isEmpty }
            .map { $0.hasSuffix(".") ? $0.dropLast() : $0[...] }.joined(separator: "; ")
        summary = ReportedText(
            status.isEmpty ? line : line.isEmpty ? status : "\(status): \(line)", without: secrets)
    }

    /// Whether the server rejects something for its times, as far as its message shows.
    package var namesTime: Bool {
        summary.description.lowercased().split { !$0.isLetter }
            .contains { ["iat", "exp", "nbf", "expired", "clock"].contains($0) }
    }

    /// Protobuf's JSON form of a duration, as `2.500s`; `nil` for anything else and for negative ones.
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

    /// Every kind of detail has other members; those of unknown kinds are passed over.
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
