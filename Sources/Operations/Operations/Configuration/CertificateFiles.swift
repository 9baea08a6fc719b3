import BackendAuthorization
import Conditions
import CurlTransport
package import LinuxPlatform
import ReportedText
import TimeAndRandomness
import VehicleAuthorization

/// The PEM files that a section of the configuration names for its connections.
///
/// Waypost checks the files itself. libcurl wouldn't report what is wrong with a file, and would block if it were a
/// pipe.
package struct CertificateFiles {
    /// The content that a PEM file must have.
    private enum Content: String {
        case certificate = "CERTIFICATE"
        case key = "PRIVATE KEY"
    }

    /// The maximum size of a file in bytes. It is 50 times the size of a file with all common certificate authorities.
    private static let maximumBytes = 16 << 20

    /// The name of the section that names the files, such as `authorization`.
    let section: String
    var caFile: String?
    var certificateFile: String?
    var keyFile: String?

    /// Whether the section names no files.
    package var isEmpty: Bool { caFile == nil && certificateFile == nil && keyFile == nil }

    /// The code of the condition that the service raises if a file is unusable; `nil` if it doesn't use the files.
    var unusableCode: ConditionCode? { ConditionCode(unusableFile: "\(section).caFile") }
    /// The code of the condition that the service raises if a certificate has expired or isn't valid yet; `nil` if it
    /// doesn't use the files.
    var invalidCode: ConditionCode? { section == "upload" ? .certificateOutsideItsTime : unusableCode }

    /// The problem and the remedy for each unusable file. The getter reads the files, so it must not be called on the
    /// shared thread pool.
    var problems: [String] {
        [
            caFile.flatMap { problem(ofFile: $0, under: "\(section).caFile", requiring: .certificate) },
            certificateFile.flatMap {
                problem(ofFile: $0, under: "\(section).clientCertificateFile", requiring: .certificate)
            },
            keyFile.flatMap { problem(ofKeyFile: $0, under: "\(section).clientKeyFile") },
        ].compactMap { $0 }
    }

    /// The files of the client's certificate and its key; `nil` unless both are configured.
    var clientCertificate: CurlClientCertificate? {
        guard let certificateFile, let keyFile else { return nil }
        return CurlClientCertificate(certificateFile: certificateFile, keyFile: keyFile)
    }

    /// The problem if the client's certificate and key don't belong together; otherwise `nil`. The getter reads the
    /// files, so it must not be called on the shared thread pool.
    package var keyMismatch: String? {
        guard let client = clientCertificate, !client.isUsable else { return nil }
        return "\(section).clientKeyFile \(client.keyFile) does not match \(section).clientCertificateFile "
            + "\(client.certificateFile): it belongs to another certificate, has a pass phrase, or is damaged; compare "
            + "openssl pkey -pubout -in \(client.keyFile) with openssl x509 -pubkey -noout -in \(client.certificateFile)"
    }

    /// Returns a message for each certificate that isn't valid at `now` or expires soon. Reads the files, so it must
    /// not run on the shared thread pool.
    func validityProblems(at now: UTCTime) -> [(isInvalid: Bool, text: String)] {
        func validityProblem(
            of path: String?, _ key: String, by choose: ([CertificateValidity]) -> CertificateValidity?
        ) -> (isInvalid: Bool, text: String)? {
            guard let path, let bytes = try? BoundedFile.contents(of: path, limit: Self.maximumBytes),
                let (isInvalid, clause) = choose(CertificateValidity.all(inPEM: bytes))?.problem(at: now)
            else { return nil }
            return (isInvalid, "\(section).\(key) \(path) contains a certificate that \(clause)")
        }
        // Only the authority that expires last matters, because one valid authority is enough. The client's own
        // certificate is the first in its file.
        return [
            validityProblem(of: caFile, "caFile") { $0.max { $0.end < $1.end } },
            validityProblem(of: certificateFile, "clientCertificateFile", by: \.first),
        ].compactMap { $0 }
    }

    private func problem(ofKeyFile path: String, under key: String) -> String? {
        // If the file contains something other than a key, its content is reported first, because its permissions don't
        // matter then.
        if let labels = try? Self.labels(inFile: path), !labels.isEmpty,
            let problem = Self.problem(ofLabels: labels, requiring: .key)
        {
            return "\(key) \(path) \(problem)"
        }
        do { try SecretFile.requireProtected(path, for: key) } catch { return "\(error)" }
        return problem(ofFile: path, under: key, requiring: .key)
    }

    private func problem(ofFile path: String, under key: String, requiring content: Content) -> String? {
        let labels: [String]
        do throws(BoundedFile.Refusal) { labels = try Self.labels(inFile: path) } catch {
            let remedy = if case .system = error { "check the path and its permissions" } else { "use a PEM file" }
            return "\(key) \(path) \(error); \(remedy)"
        }
        return Self.problem(ofLabels: labels, requiring: content).map { "\(key) \(path) \($0)" }
    }

    /// Returns the labels in a PEM file, which are in its lines `-----BEGIN LABEL-----`.
    private static func labels(inFile path: String) throws(BoundedFile.Refusal) -> [String] {
        let bytes = try BoundedFile.contents(of: path, limit: maximumBytes)
        let begin = Array("-----BEGIN ".utf8)
        return bytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: begin) }.map {
            ReportedText(bytes: $0.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }).description
        }
    }

    private static func problem(ofLabels labels: [String], requiring content: Content) -> String? {
        if labels.isEmpty { return "has no line that begins with -----BEGIN; use a PEM file" }
        if content == .key, labels.contains(where: { $0.hasPrefix("ENCRYPTED ") }) {
            return
                "has a pass phrase, which a service can't enter; write the key without one (openssl pkey -in OLD -out NEW)"
        }
        guard !labels.contains(where: { $0.hasSuffix(content.rawValue) }) else { return nil }
        let other: Content = content == .key ? .certificate : .key
        guard labels.contains(where: { $0.hasSuffix(other.rawValue) }) else {
            return "contains \(labels[0]) but no \(content.rawValue); use a PEM file that contains one"
        }
        return content == .key
            ? "contains a certificate but no private key; use the key's file here, and this file as clientCertificateFile"
            : "contains a private key but no certificate; use the certificate's file"
    }
}

/// The states of the certificate files that connections use. If a file is replaced, its state changes.
package struct CertificateFileStates: Sendable, Hashable {
    package let upload: [FileStatus?]
    package let tokens: [FileStatus?]

    /// Reads the current states of the files, so it must not run on the shared thread pool.
    package init(_ configuration: Configuration) {
        func states(_ files: CertificateFiles) -> [FileStatus?] {
            [files.caFile, files.certificateFile, files.keyFile].map { path in
                path.flatMap { try? FileStatus(followingLinksAt: $0) }
            }
        }
        upload = states(configuration.uploadCertificateFiles)
        tokens = states(configuration.tokenCertificateFiles)
    }
}

extension Configuration {
    package var uploadCertificateFiles: CertificateFiles { CertificateFiles(section: "upload", caFile: upload.caFile) }

    /// The files for connections to the token endpoint; empty if tokens don't come from an HTTP endpoint.
    package var tokenCertificateFiles: CertificateFiles {
        guard case .http(_, let trust) = authorization else { return CertificateFiles(section: authorizationSection) }
        return CertificateFiles(
            section: authorizationSection, caFile: trust.caFile, certificateFile: trust.clientCertificateFile,
            keyFile: trust.clientKeyFile)
    }
}

extension CertificateValidity {
    /// The remaining lifetime below which a certificate is reported as due for renewal.
    private static let minimumLifetime = Duration.seconds(30 * 86_400)

    /// Returns a clause with the problem and the remedy if the certificate isn't valid at `now` or expires soon;
    /// otherwise `nil`. `isInvalid` is `true` if it isn't valid.
    fileprivate func problem(at now: UTCTime) -> (isInvalid: Bool, clause: String)? {
        let today = now.description.prefix(10)
        let remedy = "replace it with a valid one, or, if today is not \(today), set this machine's clock"
        let left = now.duration(to: end)
        if left < .zero { return (true, "expired on \(end.shortestDescription), so it is rejected: \(remedy)") }
        if now < begin { return (true, "is not valid before \(begin.shortestDescription): \(remedy)") }
        guard left < Self.minimumLifetime else { return nil }
        return (false, "expires on \(end.shortestDescription), in \(left.humanReadable): replace it before then")
    }
}
