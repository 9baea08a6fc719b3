import CCurl
import LinuxPlatform

/// A client certificate and its private key, each a PEM file.
package struct CurlClientCertificate: Sendable, Hashable {
    package var certificateFile: String
    package var keyFile: String

    /// The time limit for the connection, in milliseconds.
    private static let timeout = 500

    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// Whether the TLS library accepts the certificate and the key together. The library reads the files only when it
    /// connects, so this starts a connection to a socket of this process that never answers. Blocks.
    package var isUsable: Bool {
        guard CurlMulti.isReady, var easy = CurlEasy(),
            let silent = try? ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        else { return true }
        easy.applySafety(CurlTransportOptions(userAgent: "waypost", clientCertificate: self))
        easy.set(CURLOPT_URL, "https://\(silent.address)/")
        easy.set(CURLOPT_TIMEOUT_MS, Self.timeout)
        return unsafe curl_easy_perform(easy.handle) != CURLE_SSL_CERTPROBLEM
    }
}
