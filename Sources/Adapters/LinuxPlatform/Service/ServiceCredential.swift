/// A secret that the service manager passes to the service in a file (systemd.exec(5), "Credentials").
package enum ServiceCredential {
    /// The reason why a credential is unavailable. `description` is a predicate for the credential's name.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case invalidName
        /// The service manager passed no credentials at all to this process.
        case noCredentials
        case noSuchCredential

        package var description: String {
            switch self {
            case .invalidName: "isn't a valid credential name; write the name from the unit, without a directory"
            case .noCredentials:
                "is missing: systemd has passed no credentials to this process; list the credential in the unit (LoadCredential), "
                    + "or outside the service set CREDENTIALS_DIRECTORY=/run/credentials/waypost.service"
            case .noSuchCredential:
                "is missing: systemd hasn't passed it; list the credential in the unit (LoadCredential or LoadCredentialEncrypted)"
            }
        }
    }

    /// Whether `environment` shows that the service manager has passed credentials to the process.
    package static func isGiven(in environment: [String: String]) -> Bool {
        environment["CREDENTIALS_DIRECTORY"]?.isEmpty == false
    }

    /// Returns the path of the file that contains the credential `name`. `environment` contains the variables of this
    /// process.
    package static func path(of name: String, in environment: [String: String]) throws(Problem) -> String {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { throw .invalidName }
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { throw .noCredentials }
        let path = directory + "/" + name
        // The unit sets a missing credential to a single line feed, because otherwise systemd 254 and newer log that it
        // is missing at each start.
        guard let status = try? FileStatus(followingLinksAt: path), status.bytes != 1 else { throw .noSuchCredential }
        return path
    }
}
