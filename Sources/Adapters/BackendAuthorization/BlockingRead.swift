import LinuxPlatform
import VehicleAuthorization

/// Reads what a token or a secret is made of on a thread of its own, as files may hang.
///
/// - Throws: `.unavailable` when the system has no room for a thread now.
func readOnThread<Value: Sendable>(
    named name: String, for purpose: String, _ body: @escaping @Sendable () throws(AuthorizationError) -> Value
) async throws(AuthorizationError) -> Value {
    let result = await onThreadIfAny(named: name) { () -> Result<Value, AuthorizationError> in
        do throws(AuthorizationError) { return .success(try body()) } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): return try value.get()
    case .failure(let error):
        throw AuthorizationError(.unavailable, "\(purpose) cannot be read now: \(error.outOfResources)")
    }
}

extension SystemError {
    /// For a process or thread that the system has no room for: which limits to raise.
    var outOfResources: String {
        "\(reason); if it stays so, raise the limits of processes and memory (ulimit -u, -v and -d, TasksMax=)"
    }
}
