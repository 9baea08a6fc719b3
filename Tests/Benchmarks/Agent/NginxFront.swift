import FoundationEssentials
import LinuxPlatform

/// Debian's nginx as a Fleet Engine that speaks TLS and HTTP/2, with a certificate made for the occasion.
struct NginxFront {
    let port: UInt16
    /// Trusts the certificate, and whatever the system trusts beside it: as large as a real one.
    let caFile: String
    private let nginx: SpawnedProgram

    /// Why there is none; `nil` when both programs are installed.
    static var absence: String? {
        let missing = ["/usr/sbin/nginx", "/usr/bin/openssl"].filter {
            !FileManager.default.isExecutableFile(atPath: $0)
        }
        return missing.isEmpty ? nil : "\(missing.joined(separator: " and ")) not installed"
    }

    /// Starts it; it ends with the value.
    init(in workplace: Workplace) async throws {
        let folder = workplace.folder.appending(path: "nginx")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Self.makeCertificate(in: folder)
        caFile = folder.appending(path: "authorities.pem").path
        let system = (try? Data(contentsOf: URL(filePath: "/etc/ssl/certs/ca-certificates.crt"))) ?? Data()
        try (Data(contentsOf: folder.appending(path: "server.pem")) + system).write(to: URL(filePath: caFile))
        port = try Self.freePort()
        try Data(Self.configuration(port).utf8).write(to: folder.appending(path: "nginx.conf"))
        nginx = try SpawnedProgram(
            ["/usr/sbin/nginx", "-p", folder.path, "-c", "nginx.conf", "-e", "stderr"],
            output: workplace.path("nginx.log"))
        // Another's program: there is nothing to wait on but its port.
        for _ in 0..<1000 {
            if (try? connectedSocket(to: .loopback(host: "127.0.0.1", port: port))) != nil { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw BenchmarkError("nginx does not answer; see \(workplace.path("nginx.log"))")
    }

    /// The address of what answers updates.
    var endpoint: String { "https://localhost:\(port)" }
    /// An answer that takes longer than any case.
    var slowAddress: String { "\(endpoint)/slow" }

    private static func makeCertificate(in folder: URL) throws {
        let openssl = try SpawnedProgram(
            [
                "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", folder.appending(path: "server.key").path, "-out", folder.appending(path: "server.pem").path,
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1",
            ], output: folder.appending(path: "openssl.log").path)
        guard openssl.wait() == 0 else { throw BenchmarkError("openssl could not make a certificate") }
    }

    private static func freePort() throws -> UInt16 {
        let socket = try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        guard case .loopback(_, let port) = socket.address else { throw BenchmarkError("there is no free port") }
        return port
    }

    private static func configuration(_ port: UInt16) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events { worker_connections 64; }
        http {
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            default_type application/json;
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate server.pem;
                ssl_certificate_key server.key;
                keepalive_requests 1000000;
                keepalive_timeout 600s;
                location /slow { limit_rate 1; return 200 "\(String(repeating: "slow", count: 100))"; }
                location / { return 200 '\(LoopbackFleetEngine.answer)'; }
            }
        }
        """
    }
}
