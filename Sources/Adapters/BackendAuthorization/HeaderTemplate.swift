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

    /// The value to send, and the secret in it. May read a file; not for the shared pool.
    ///
    /// - Throws: `.misconfigured`, naming header and source and never the value.
    func value(environment: [String: String]) throws(AuthorizationError) -> (value: String, secret: String) {
        let secret = try secret.text(for: "header \(name)", environment: environment)
        switch scheme {
        case .verbatim: return (secret, secret)
        case .bearer: return ("Bearer \(secret)", secret)
        case .basic:
            guard secret.contains(":") else {
                throw AuthorizationError(
                    .misconfigured, "header \(name) has the scheme basic, whose secret must read user:password")
            }
            return ("Basic \(base64Encoded(Array(secret.utf8)))", secret)
        }
    }
}
