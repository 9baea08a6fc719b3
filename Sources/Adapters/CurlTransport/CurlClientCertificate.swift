import CCurl
import LinuxPlatform

/// The PEM files of a client certificate and its private key.
package struct CurlClientCertificate: Sendable, Hashable {
    package var certificateFile: String
    package var keyFile: String

    /// The time limit for the test connection of `isUsable`, in milliseconds.
    private static let timeout = 500

    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// Whether the TLS library accepts the certificate with the key; `true` if that can't be tested. Blocks.
    ///
    /// The TLS library reads the files only when it connects. The test therefore connects to a listening socket in this
    /// process, and no response ever comes from that socket.
    package var isUsable: Bool {
        guard CurlMulti.isReady, var easy = CurlEasy(),
            let silent = try? ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        else { return true }
        easy.apply(CurlTransportOptions(userAgent: "waypost", clientCertificate: self))
        easy.set(CURLOPT_URL, "https://\(silent.address)/")
        easy.set(CURLOPT_TIMEOUT_MS, Self.timeout)
        return unsafe curl_easy_perform(easy.handle) != CURLE_SSL_CERTPROBLEM
    }
}
