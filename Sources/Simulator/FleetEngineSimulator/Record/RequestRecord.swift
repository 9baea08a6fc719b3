package import FleetEngine

/// One request and what became of it.
package struct RequestRecord: Sendable, Hashable {
    package let receivedAt: WireTime
    package let method: String
    /// Without the query; never a token.
    package let path: String
    /// The status of the answer; `nil` when none went out.
    package let status: Int?
    package let fault: String?
    /// The refusal's message.
    package let message: String?
    package let bytesReceived: Int
    package let bytesSent: Int

    /// The kind of outcome that is counted: a status, or the fault that prevented one.
    package var outcome: String { status.map(String.init) ?? fault ?? "none" }
}
