import FoundationEssentials

/// The error body of Google's APIs (API design guide, "Errors"): what a refusal says besides its status code.
package struct FleetEngineError: Sendable, Hashable {
    /// The name of the canonical code, as `INVALID_ARGUMENT`.
    package var status: String
    package var message: String
    /// From `google.rpc.RetryInfo`.
    package var retryDelay: Duration?
    /// From `google.rpc.BadRequest`, as `field: description`.
    package var fieldViolations: [String]

    /// `nil` when `body` is no such error: HTML, another program's JSON, nothing.
    package init?(_ body: [UInt8]) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else { return nil }
        status = answer.error.status ?? ""
        message = answer.error.message ?? ""
        let details = answer.error.details ?? []
        retryDelay = details.lazy.compactMap { $0.retryDelay.flatMap(Self.duration) }.first
        fieldViolations = details.flatMap { $0.fieldViolations ?? [] }
            .map { "\($0.field ?? "?"): \($0.description ?? "")" }
    }

    /// `message`, the status name and what is wrong with which field, on one line.
    package var summary: String {
        let line = ([message] + fieldViolations).filter { !$0.isEmpty }.joined(separator: "; ")
        let text = status.isEmpty ? line : line.isEmpty ? status : "\(status): \(line)"
        return String(text.prefix(300).map { $0.isNewline ? " " : $0 })
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
        let fieldViolations: [Violation]?
    }

    private struct Violation: Decodable {
        let field: String?
        let description: String?
    }
}
