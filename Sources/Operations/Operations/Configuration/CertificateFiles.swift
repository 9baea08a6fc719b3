import BackendAuthorization
import CurlTransport
package import LinuxPlatform
import ReportedText
import TimeAndChance
import VehicleAuthorization

/// The files that a section of the configuration names for its connections. libcurl reads them by itself, would wait
/// for a pipe, and says little about a file that is none of its kind.
package struct CertificateFiles {
    /// What a PEM file is named for.
    private enum Content: String {
        case certificate = "CERTIFICATE"
        case key = "PRIVATE KEY"
    }

    /// In bytes; a file of all authorities of the world has a fiftieth.
    private static let limit = 16 << 20

    /// As `authorization`.
    let section: String
    var authorities: String?
    var certificate: String?
    var key: String?

    /// Whether the section names none.
    package var isEmpty: Bool { authorities == nil && certificate == nil && key == nil }

    /// What is wrong with each of them, a sentence with its remedy. Reads them; not for the shared pool.
    var problems: [String] {
        [
            authorities.flatMap { problem(of: $0, "\(section).caFile", .certificate) },
            certificate.flatMap { problem(of: $0, "\(section).clientCertificateFile", .certificate) },
            key.flatMap { problem(ofKey: $0, "\(section).clientKeyFile") },
        ].compactMap { $0 }
    }

    /// The two by which a client says who it is.
    var client: CurlClientCertificate? {
        guard let certificate, let key else { return nil }
        return CurlClientCertificate(certificateFile: certificate, keyFile: key)
    }

    /// What is wrong with certificate and key where nothing is wrong with each. Tries them; not for the shared pool.
    package var problemOfPair: String? {
        guard let client, !client.isUsable else { return nil }
        return "\(section).clientKeyFile \(client.keyFile) does not go with \(section).clientCertificateFile "
            + "\(client.certificateFile): it is the key of another certificate, has a pass phrase, or is damaged; compare "
            + "openssl pkey -pubout -in \(client.keyFile) with openssl x509 -pubkey -noout -in \(client.certificateFile)"
    }

    /// What the time says of certificates with which nothing else is wrong: that one is not valid at `now`, or ends
    /// soon. Reads them; not for the shared pool.
    func lapses(at now: UTCTime) -> [(isNow: Bool, text: String)] {
        func lapse(
            of path: String?, _ key: String, by choose: ([CertificateValidity]) -> CertificateValidity?
        ) -> (isNow: Bool, text: String)? {
            guard let path, let bytes = try? BoundedFile.contents(of: path, limit: Self.limit),
                let (isNow, words) = choose(CertificateValidity.each(inPEM: bytes))?.lapse(at: now)
            else { return nil }
            return (isNow, "\(section).\(key) \(path) holds a certificate that \(words)")
        }
        // Of several authorities one is enough; in a chain the client's own comes first.
        return [
            lapse(of: authorities, "caFile") { $0.max { $0.end < $1.end } },
            lapse(of: certificate, "clientCertificateFile", by: \.first),
        ].compactMap { $0 }
    }

    private func problem(ofKey path: String, _ name: String) -> String? {
        // A certificate in its place need be no secret.
        if let labels = try? Self.labels(of: path), !labels.isEmpty, let problem = Self.problem(labels, .key) {
            return "\(name) \(path) \(problem)"
        }
        do { try SecretFile.require(path, for: name) } catch { return "\(error)" }
        return problem(of: path, name, .key)
    }

    private func problem(of path: String, _ name: String, _ content: Content) -> String? {
        let labels: [String]
        do throws(BoundedFile.Refusal) { labels = try Self.labels(of: path) } catch {
            let remedy = if case .system = error { "check the path, and who may read it" } else { "name a PEM file" }
            return "\(name) \(path) \(error); \(remedy)"
        }
        return Self.problem(labels, content).map { "\(name) \(path) \($0)" }
    }

    /// What its lines `-----BEGIN LABEL-----` say of a PEM file.
    private static func labels(of path: String) throws(BoundedFile.Refusal) -> [String] {
        let bytes = try BoundedFile.contents(of: path, limit: limit)
        let begin = Array("-----BEGIN ".utf8)
        return bytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: begin) }.map {
            ReportedText(bytes: $0.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }).description
        }
    }

    private static func problem(_ labels: [String], _ content: Content) -> String? {
        if labels.isEmpty { return "has no line that begins with -----BEGIN; name a PEM file" }
        if content == .key, labels.contains(where: { $0.hasPrefix("ENCRYPTED ") }) {
            return
                "has a pass phrase, which nobody is there to type; write the key without one (openssl pkey -in OLD -out NEW)"
        }
        guard !labels.contains(where: { $0.hasSuffix(content.rawValue) }) else { return nil }
        let other: Content = content == .key ? .certificate : .key
        guard labels.contains(where: { $0.hasSuffix(other.rawValue) }) else {
            return "holds \(labels[0]), and no \(content.rawValue); name a PEM file that does"
        }
        return content == .key
            ? "holds a certificate and no private key; name the key's file, and this one in clientCertificateFile"
            : "holds a private key and no certificate; name the certificate's file"
    }
}

/// The state of the files that connections are made with. It differs if a file was replaced.
package struct CertificateFileStates: Sendable, Hashable {
    package let upload: [FileStatus?]
    package let tokens: [FileStatus?]

    /// Looks at them; not for the shared pool.
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

    /// Those of the token endpoint; none where tokens come from elsewhere.
    package var tokenFiles: CertificateFiles {
        guard case .http(_, let trust) = authorization else { return CertificateFiles(section: authorizationSection) }
        return CertificateFiles(
            section: authorizationSection, authorities: trust.caFile, certificate: trust.clientCertificateFile,
            key: trust.clientKeyFile)
    }
}

extension CertificateValidity {
    /// How long before its end there is time to renew it.
    private static let notice = Duration.seconds(30 * 86_400)

    /// Whether it is not valid at the time `now`, or will not be soon, and what to do.
    fileprivate func lapse(at now: UTCTime) -> (isNow: Bool, words: String)? {
        let today = now.description.prefix(10)
        let remedy = "put a valid one in its place, or, if it is not \(today) today, set this machine's clock"
        let left = now.duration(to: end)
        if left < .zero { return (true, "ended on \(end.shortestDescription), so that it is rejected: \(remedy)") }
        if now < begin { return (true, "is not valid before \(begin.shortestDescription): \(remedy)") }
        guard left < Self.notice else { return nil }
        return (false, "ends on \(end.shortestDescription), in \(left.spoken): put a new one in its place before")
    }
}
