import VehicleAuthorization

/// A request header whose value may be a secret.
package struct HeaderTemplate: Sendable, Hashable {
    /// What is made of the secret.
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        case verbatim
        /// `Bearer` and the secret.
        case bearer
        /// `Basic` and the secret, which is `user:password`.
        case basic
    }

    package var name: String
    package var secret: Secret
    package var scheme: Scheme

    package init(_ name: String, _ secret: Secret, scheme: Scheme = .verbatim) {
        (self.name, self.secret, self.scheme) = (name, secret, scheme)
    }

    /// The value to send. May read a file; not for the shared pool.
    ///
    /// - Throws: `.misconfigured`, naming header and source and never the value.
    func value(environment: [String: String]) throws(AuthorizationError) -> String {
        let secret: String
        switch self.secret {
        case .literal(let text): secret = text
        case .environment(let variable):
            guard let text = environment[variable], !text.isEmpty else {
                throw AuthorizationError(
                    .misconfigured,
                    "header \(name) takes its value from the environment variable \(variable), "
                        + "which is not set")
            }
            secret = text
        case .file(let path):
            let bytes = try SecretFile.read(path, limit: 64 * 1024).bytes
            secret = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
            guard !secret.isEmpty else {
                throw AuthorizationError(.misconfigured, "\(path), the value of header \(name), is empty")
            }
        }
        return switch scheme {
        case .verbatim: secret
        case .bearer: "Bearer \(secret)"
        case .basic: "Basic \(base64Encoded(Array(secret.utf8)))"
        }
    }
}
