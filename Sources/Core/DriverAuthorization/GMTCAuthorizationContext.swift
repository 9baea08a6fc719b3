public import Foundation

/// What a consumer's token is asked for: the Consumer SDK's class, made by the agent.
public final class GMTCAuthorizationContext: NSObject, Sendable {
    /// The trip's id as Fleet Engine knows it.
    public let tripID: String

    /// A context, as tests of a provider need it.
    public init(tripID: String) { self.tripID = tripID }

    /// The id; there is no secret in it.
    public override var description: String { "GMTCAuthorizationContext(tripID: \(tripID))" }
}
