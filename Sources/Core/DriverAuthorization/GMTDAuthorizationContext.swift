public import Foundation

/// What the agent asks a token for: the Driver SDK's class, made by the agent.
public final class GMTDAuthorizationContext: NSObject, Sendable {
    /// The vehicle's id as Fleet Engine knows it.
    public let vehicleID: String
    /// The task's id; only scheduled tasks of trusted drivers have one.
    public let taskID: String?

    /// A context, as tests of a provider need it.
    public init(vehicleID: String, taskID: String? = nil) {
        (self.vehicleID, self.taskID) = (vehicleID, taskID)
    }

    /// The ids; there is no secret in them.
    public override var description: String {
        "GMTDAuthorizationContext(vehicleID: \(vehicleID)\(taskID.map { ", taskID: \($0)" } ?? ""))"
    }
}
