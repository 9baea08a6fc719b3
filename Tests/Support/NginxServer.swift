import FoundationEssentials
import Glibc
import LinuxPlatform

/// Debian's nginx with TLS and HTTP/2 on loopback; killed when this object is released.
package final class NginxServer: Sendable {
    /// The port with a certificate for `localhost`.
    package let port: UInt16
    /// The port with an expired certificate.
    package let expiredPort: UInt16
    /// The port with a certificate for another host.
    package let foreignPort: UInt16
    /// The port with HTTP/1.1, on which every connection ends after one request.
    package let briefPort: UInt16
    /// The port that requires a client certificate of the same authority.
    package let mutualPort: UInt16
    private let reservations: [LoopbackSocket]
    private let directory: TemporaryDirectory
    private let program: RunningProgram

    /// The certificate of the authority that signed all certificates.
    package var caFile: String { TestCertificates.caFile(in: directory) }

    /// A client's certificate and its key, signed by the same authority.
    package var clientCertificate: (certificate: String, key: String) {
        TestCertificates.clientCredentials(in: directory)
    }

    package static let isAvailable =
        FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
        && TestCertificates.areAvailable

    /// Starts nginx. It answers `/token` with `token`, and paths without their own answer with `answer`.
    package init(
        token: String = "", answer: String = "ok", host: String = "127.0.0.1"
    ) async throws {
        reservations = try (0..<5).map { _ in try LoopbackSocket.reservation() }
        let ports = reservations.map { UInt16($0.port) }
        (port, expiredPort, foreignPort, briefPort, mutualPort) = (ports[0], ports[1], ports[2], ports[3], ports[4])
        directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        let servers = [
            (port, "good", 1_000_000), (expiredPort, "expired", 1), (foreignPort, "foreign", 1), (briefPort, "good", 1),
            (mutualPort, "good", 1),
        ].map { [mutualPort] port, name, requests in
            """
            server {
                listen \(host):\(port) ssl\(requests == 1 ? "" : " http2");
                ssl_certificate \(name).pem;
                ssl_certificate_key \(name).key;
                keepalive_requests \(requests);
                \(port == mutualPort ? "ssl_client_certificate ca.pem; ssl_verify_client on;" : "")
                location /token { return 200 '{"VEHICLE_TOKEN_KEY":"\(token)"}'; }
                location /protocol { return 200 "$server_protocol $ssl_protocol"; }
                location /connection { return 200 "$connection $connection_requests"; }
                location /bytes { return 200 "$request_length"; }
                location /session { return 200 "$connection_requests $ssl_session_reused"; }
                location /slow { limit_rate 1; return 200 "\(String(repeating: "slow", count: 100))"; }
                location / { return 200 '\(answer)'; }
            }
            """
        }
        let configuration = """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 512; }
            http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                default_type application/json;
                keepalive_timeout 600s;
                http2_max_concurrent_streams 256;
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_session_cache shared:tls:1m;
                \(servers.joined(separator: "\n"))
            }
            """
        try directory.write(configuration.utf8, to: "nginx.conf")
        program = try RunningProgram(
            ["/usr/sbin/nginx", "-p", directory.url.path, "-c", "nginx.conf", "-e", "stderr"])
        // nginx logs this once it listens on all ports; connections then wait until they are served.
        guard await program.errors.line(saying: #"using the "epoll" event method"#) != nil else {
            throw SystemError(call: "start nginx, which says \(program.errors.text),", number: ECONNREFUSED)
        }
    }
}

/// Certificates made for one test: that of an authority, and the certificates that the authority has signed.
package enum TestCertificates {
    package static let areAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    /// Returns the path of the certificate of the authority.
    package static func caFile(in directory: TemporaryDirectory) -> String { directory.path("ca.pem") }

    /// Returns the paths of the certificate for `localhost` and its key.
    package static func serverCredentials(in directory: TemporaryDirectory) -> (certificate: String, key: String) {
        (directory.path("good.pem"), directory.path("good.key"))
    }

    /// Returns the paths of a client's certificate and its key.
    package static func clientCredentials(in directory: TemporaryDirectory) -> (certificate: String, key: String) {
        (directory.path("client.pem"), directory.path("client.key"))
    }

    /// Makes the certificates and their keys in `directory`.
    package static func make(in directory: TemporaryDirectory) async throws {
        /// Runs openssl. File names in `arguments` have no directory.
        func openssl(_ arguments: [String]) async throws {
            let placed = arguments.map { argument in
                [".pem", ".key", ".csr", ".conf"].contains(where: argument.hasSuffix)
                    ? directory.path(argument) : argument
            }
            let outcome = try await ChildProcess(arguments: ["/usr/bin/openssl"] + placed, timeLimit: .seconds(100))
                .run()
            guard outcome.ending == .exited(0) else {
                throw CertificateError(description: String(decoding: outcome.standardError, as: UTF8.self))
            }
        }
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await openssl(
            ["req", "-x509"] + key + ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test", "-days", "1"])
        // In both OpenSSL 3.0 and 3.5, only `openssl ca` can sign for a time in the past.
        let authority = """
            [ca]
            default_ca = test
            [test]
            database = \(directory.path("ca-issued.txt"))
            unique_subject = no
            serial = \(directory.path("ca-serial.txt"))
            new_certs_dir = \(directory.url.path)
            default_md = sha256
            copy_extensions = copy
            policy = any
            [any]
            commonName = supplied
            """
        try directory.write(authority.utf8, to: "ca.conf")
        try directory.write([], to: "ca-issued.txt")
        for (name, host, end) in [
            ("good", "localhost", "20991231235959Z"), ("expired", "localhost", "20200102000000Z"),
            ("foreign", "other.test", "20991231235959Z"), ("client", "van-7", "20991231235959Z"),
        ] {
            try await openssl(
                ["req"] + key + [
                    "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(host)", "-addext",
                    "subjectAltName=DNS:\(host)",
                ])
            try await openssl([
                "ca", "-batch", "-notext", "-config", "ca.conf", "-create_serial", "-cert", "ca.pem", "-keyfile",
                "ca.key",
                "-startdate", "20200101000000Z", "-enddate", end, "-in", "\(name).csr", "-out", "\(name).pem",
            ])
        }
    }
}

/// The failure of openssl to make a certificate.
private struct CertificateError: Error {
    let description: String
}
