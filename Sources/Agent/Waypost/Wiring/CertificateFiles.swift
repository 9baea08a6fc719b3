import BackendAuthorization
import LinuxPlatform
import ReportedText
import VehicleAuthorization

/// The files that a section of the configuration names for its connections. libcurl reads them by itself, would wait
/// for a pipe, and says little about a file that is none of its kind.
struct CertificateFiles {
    /// As `authorization`.
    let section: String
    var authorities: String?
    var certificate: String?
    var key: String?

    /// What is wrong with each of them, a sentence with its remedy. Reads them; not for the shared pool.
    var problems: [String] {
        [
            authorities.flatMap { problem(of: $0, "\(section).caFile") },
            certificate.flatMap { problem(of: $0, "\(section).clientCertificateFile") },
            key.flatMap { problem(ofKey: $0, "\(section).clientKeyFile") },
        ].compactMap { $0 }
    }

    private func problem(ofKey path: String, _ name: String) -> String? {
        do { try SecretFile.require(path, as: name) } catch { return error.detail }
        return problem(of: path, name)
    }

    private func problem(of path: String, _ name: String) -> String? {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 16 << 20) } catch {
            let remedy = if case .system = error { "check the path, and who may read it" } else { "name a PEM file" }
            return "\(name) \(path) \(error); \(remedy)"
        }
        guard bytes.firstRange(of: "-----BEGIN") == nil else { return nil }
        return "\(name) \(path) has no line that begins with -----BEGIN; name a PEM file"
    }
}

extension Configuration {
    var uploadFiles: CertificateFiles { CertificateFiles(section: "upload", authorities: upload.caFile) }

    /// Those of the token endpoint; none where tokens come from elsewhere.
    var tokenFiles: CertificateFiles {
        guard case .http(_, let trust) = authorization else { return CertificateFiles(section: authorizationSection) }
        return CertificateFiles(
            section: authorizationSection, authorities: trust.caFile, certificate: trust.clientCertificateFile,
            key: trust.clientKeyFile)
    }
}
