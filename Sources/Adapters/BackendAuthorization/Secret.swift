import VehicleAuthorization

/// Where a secret comes from; read anew each time, so that it can be changed while the service runs.
package enum Secret: Sendable, Hashable {
    /// In the configuration itself; meant for values that are no secret.
    case literal(String)
    /// The content of a file, without white space around it; refused when others may read it.
    case file(String)
    /// An environment variable of this process.
    case environment(String)

    /// The text itself, from a file, `environment` or the configuration. May read a file; not for the shared pool.
    ///
    /// - Throws: `.misconfigured`, naming `use` (as `header Authorization`) and source and never the text.
    func text(for use: String, environment: [String: String]) throws(AuthorizationError) -> String {
        switch self {
        case .literal(let text): return text
        case .environment(let variable):
            guard let text = environment[variable], !text.isEmpty else {
                throw AuthorizationError(
                    .misconfigured,
                    "\(use) takes its value from the environment variable \(variable), which is not set")
            }
            return text
        case .file(let path):
            let bytes = try SecretFile.read(path, as: "the file for \(use),", limit: 64 * 1024).bytes
            let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
            guard !text.isEmpty else {
                throw AuthorizationError(
                    .misconfigured, "the file for \(use), \(path), is empty; write the value to it")
            }
            return text
        }
    }
}
