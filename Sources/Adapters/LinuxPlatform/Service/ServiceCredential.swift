/// A secret that the service manager hands to the service as a file of its own (systemd.exec(5), "Credentials").
package enum ServiceCredential {
    /// Why there is none; what it says goes behind the credential's name.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notAName
        /// This process was not given any.
        case noneGiven
        case notGiven

        package var description: String {
            switch self {
            case .notAName: "no credential can be called; write the name that stands in the unit, without a folder"
            case .noneGiven:
                "is not there, for systemd has handed no credential to this process; name it in the unit (LoadCredential), "
                    + "or outside the service set CREDENTIALS_DIRECTORY=/run/credentials/waypost.service"
            case .notGiven:
                "systemd has not handed over; name it in the unit (LoadCredential or LoadCredentialEncrypted)"
            }
        }
    }

    /// Whether the service manager has handed any credential to a process with this `environment`.
    package static func isGiven(in environment: [String: String]) -> Bool {
        environment["CREDENTIALS_DIRECTORY"]?.isEmpty == false
    }

    /// The file that holds the credential `name`, by this process's `environment`.
    package static func path(of name: String, in environment: [String: String]) throws(Problem) -> String {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { throw .notAName }
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else { throw .noneGiven }
        let path = folder + "/" + name
        // The unit sets one that is missing to a line feed: systemd 254 and newer log it otherwise, at each start.
        guard let status = try? FileStatus(behind: path), status.bytes != 1 else { throw .notGiven }
        return path
    }
}
