// As Google's modules do: a provider's file has no other import. On Linux `URLSession` is in the second.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// Takes the token, or the error, of one fetch; exactly one of them is given, once, from any thread.
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A token provider in the Driver SDK's shape, so that a provider class of an iOS driver app compiles here with its
/// import changed.
///
/// Implement one of the two forms. `DriverSDKAuthorization` turns a provider into `VehicleAuthorization`, and asks
/// whenever it is asked; `CachedAuthorization` around that keeps tokens.
public protocol GMTDAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's vehicle and calls `completion` exactly once, from any thread.
    ///
    /// The handler may go to any thread, as the compiler knows in Swift 6 mode; a class may take it as
    /// `GMTDAuthTokenFetchCompletionHandler` all the same.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches a token for the context's vehicle. The default calls the completion form.
    func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String
}

extension GMTDAuthorization {
    /// Answers with an error: the provider has the `async` form, which the agent calls.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form; the first answer counts, and cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.give(token, error) }
        return try await answer.value()
    }
}

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
