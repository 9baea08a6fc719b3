/// What a token is asked for; the counterpart of `GMTDAuthorizationContext`.
public struct AuthorizationContext: Sendable, Hashable {
    /// The vehicle's id as Fleet Engine knows it.
    public let vehicleID: String
    /// The task's id; only scheduled tasks of trusted drivers have one.
    public let taskID: String?

    /// A context for one vehicle.
    public init(vehicleID: String, taskID: String? = nil) {
        (self.vehicleID, self.taskID) = (vehicleID, taskID)
    }
}
