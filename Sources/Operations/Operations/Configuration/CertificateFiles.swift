import BackendAuthorization
import CurlTransport
package import LinuxPlatform
import ReportedText
import TimeAndChance
import VehicleAuthorization

/// The PEM files that a section of the configuration specifies for its connections.
///
/// Waypost checks the files itself, because libcurl would block on a pipe and doesn't report what is wrong with a file.
package struct CertificateFiles {
    /// The expected content of a PEM file.
    private enum Content: String {
        case certificate = "CERTIFICATE"
        case key = "PRIVATE KEY"
    }

    /// The maximum size of a file in bytes. A file with all common authorities has a fiftieth of this size.
    private static let limit = 16 << 20

    /// The name of the section, such as `authorization`.
    let section: String
    var authorities: String?
    var certificate: String?
    var key: String?

    /// Whether the section names no files.
    package var isEmpty: Bool { authorities == nil && certificate == nil && key == nil }

    /// The problem with each unusable file, with the remedy. The getter reads the files and must not run on the
    /// shared pool.
    var problems: [String] {
        [
            authorities.flatMap { problem(of: $0, "\(section).caFile", .certificate) },
            certificate.flatMap { problem(of: $0, "\(section).clientCertificateFile", .certificate) },
            key.flatMap { problem(ofKey: $0, "\(section).clientKeyFile") },
        ].compactMap { $0 }
    }

    /// The client's certificate with its key; `nil` if one of them isn't configured.
    var client: CurlClientCertificate? {
        guard let certificate, let key else { return nil }
        return CurlClientCertificate(certificateFile: certificate, keyFile: key)
    }

    /// The problem if the certificate and the key are each usable but don't belong together; otherwise `nil`. The
    /// getter reads the files, so it must not run on the shared pool.
    package var problemOfPair: String? {
        guard let client, !client.isUsable else { return nil }
        return "\(section).clientKeyFile \(client.keyFile) does not match \(section).clientCertificateFile "
            + "\(client.certificateFile): it belongs to another certificate, has a pass phrase, or is damaged; compare "
            + "openssl pkey -pubout -in \(client.keyFile) with openssl x509 -pubkey -noout -in \(client.certificateFile)"
    }

    /// Returns a message for each certificate that isn't valid at `now` or expires soon. Reads the files, so don't call
    /// it on the shared pool.
    func validityProblems(at now: UTCTime) -> [(isNow: Bool, text: String)] {
        func validityProblem(
            of path: String?, _ key: String, by choose: ([CertificateValidity]) -> CertificateValidity?
        ) -> (isNow: Bool, text: String)? {
            guard let path, let bytes = try? BoundedFile.contents(of: path, limit: Self.limit),
                let (isNow, words) = choose(CertificateValidity.all(inPEM: bytes))?.lapse(at: now)
            else { return nil }
            return (isNow, "\(section).\(key) \(path) contains a certificate that \(words)")
        }
        // One valid authority is enough; the client's own certificate is the first of its chain.
        return [
            validityProblem(of: authorities, "caFile") { $0.max { $0.end < $1.end } },
            validityProblem(of: certificate, "clientCertificateFile", by: \.first),
        ].compactMap { $0 }
    }

    private func problem(ofKey path: String, _ name: String) -> String? {
        // If the file holds a certificate by mistake, its permissions don't matter.
        if let labels = try? Self.labels(of: path), !labels.isEmpty, let problem = Self.problem(labels, .key) {
            return "\(name) \(path) \(problem)"
        }
        do { try SecretFile.requireProtected(path, for: name) } catch { return "\(error)" }
        return problem(of: path, name, .key)
    }

    private func problem(of path: String, _ name: String, _ content: Content) -> String? {
        let labels: [String]
        do throws(BoundedFile.Refusal) { labels = try Self.labels(of: path) } catch {
            let remedy = if case .system = error { "check the path and its permissions" } else { "use a PEM file" }
            return "\(name) \(path) \(error); \(remedy)"
        }
        return Self.problem(labels, content).map { "\(name) \(path) \($0)" }
    }

    /// Returns the labels of a PEM file, from its lines `-----BEGIN LABEL-----`.
    private static func labels(of path: String) throws(BoundedFile.Refusal) -> [String] {
        let bytes = try BoundedFile.contents(of: path, limit: limit)
        let begin = Array("-----BEGIN ".utf8)
        return bytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: begin) }.map {
            ReportedText(bytes: $0.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }).description
        }
    }

    private static func problem(_ labels: [String], _ content: Content) -> String? {
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
            ? "contains a certificate but no private key; use the key's file here, and this one as clientCertificateFile"
            : "contains a private key but no certificate; use the certificate's file"
    }
}

/// The states of the files that connections are made with. Replacing a file changes its state.
package struct CertificateFileStates: Sendable, Hashable {
    package let upload: [FileStatus?]
    package let tokens: [FileStatus?]

    /// Reads the states of the files, so it must not run on the shared pool.
    package init(_ configuration: Configuration) {
        func states(_ files: CertificateFiles) -> [FileStatus?] {
            [files.authorities, files.certificate, files.key].map { path in path.flatMap { try? FileStatus(behind: $0) }
            }
        }
        upload = states(configuration.uploadFiles)
        tokens = states(configuration.tokenFiles)
    }
}

extension Configuration {
    package var uploadFiles: CertificateFiles { CertificateFiles(section: "upload", authorities: upload.caFile) }

    /// The files for the token endpoint; none if tokens don't come from an HTTP endpoint.
    package var tokenFiles: CertificateFiles {
        guard case .http(_, let trust) = authorization else { return CertificateFiles(section: authorizationSection) }
        return CertificateFiles(
            section: authorizationSection, authorities: trust.caFile, certificate: trust.clientCertificateFile,
            key: trust.clientKeyFile)
    }
}

extension CertificateValidity {
    /// The time before a certificate's expiry at which its renewal is due.
    private static let notice = Duration.seconds(30 * 86_400)

    /// Returns a clause with a remedy if the certificate is invalid at `now` or expires soon; otherwise `nil`.
    fileprivate func lapse(at now: UTCTime) -> (isNow: Bool, words: String)? {
        let today = now.description.prefix(10)
        let remedy = "replace it with a valid one, or, if today is not \(today), set this machine's clock"
        let left = now.duration(to: end)
        if left < .zero { return (true, "expired on \(end.shortestDescription), so it is rejected: \(remedy)") }
        if now < begin { return (true, "is not valid before \(begin.shortestDescription): \(remedy)") }
        guard left < Self.notice else { return nil }
        return (false, "expires on \(end.shortestDescription), in \(left.spoken): replace it before then")
    }
}
