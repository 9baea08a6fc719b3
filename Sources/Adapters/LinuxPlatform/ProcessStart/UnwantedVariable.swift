import CLinux
import Glibc

/// A variable of the environment by which somebody else's wish would change what the configuration and the system's own
/// files decide: whom TLS trusts and what it gives away, which way a request takes, how memory is managed.
package struct UnwantedVariable: Sendable {
    /// Its name; `*` at the beginning or the end stands for any letters, and letters of either case are the same.
    package let pattern: String
    /// What it would do.
    package let reason: String

    /// All of them. What is not here stays: `TZ`, `LANG`, systemd's own, and what the configuration names.
    package static let all: [UnwantedVariable] = [
        .init(pattern: "SSLKEYLOGFILE", reason: "writes the secrets of every TLS connection to a file"),
        .init(pattern: "SSL_CERT_FILE", reason: "adds authorities that are trusted; the configuration's caFile does"),
        .init(pattern: "SSL_CERT_DIR", reason: "adds authorities that are trusted; the configuration's caFile does"),
        .init(pattern: "OPENSSL_*", reason: "loads settings, engines and modules into TLS, switches ciphers off"),
        .init(pattern: "GNUTLS_*", reason: "the same for a TLS library that libcurl's own dependencies load"),
        .init(pattern: "CURL_*", reason: "chooses libcurl's authorities, TLS library and files"),
        .init(pattern: "NETRC", reason: "names a file with credentials for hosts"),
        .init(pattern: "*_PROXY", reason: "leads requests, and tokens in them, to another host"),
        .init(pattern: "HOSTALIASES", reason: "makes a host's name lead to another one"),
        .init(pattern: "LOCALDOMAIN", reason: "makes a host's name lead to another domain"),
        .init(pattern: "RESOLV_*", reason: "makes the resolver read other files than the system's"),
        .init(pattern: "GLIBC_TUNABLES", reason: "changes allocator and loader"),
        .init(pattern: "MALLOC_*", reason: "changes the allocator"),
        .init(pattern: "SQLITE_*", reason: "writes parts of the outbox to another folder"),
    ]

    /// Whether a variable of this name is meant.
    package func matches(_ name: String) -> Bool {
        let (name, pattern) = (name.uppercased(), pattern)
        if pattern.hasPrefix("*") { return name.hasSuffix(pattern.dropFirst()) }
        if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
        return name == pattern
    }

    /// Takes all of them out of this process's environment; false when there was none.
    ///
    /// Only while there is one thread: others may be reading.
    static func clearEnvironment() -> Bool {
        var names: [String] = []
        var next = unsafe clinux_environment()
        while let entry = unsafe next?.pointee {
            let name = unsafe String(cString: entry).prefix { $0 != "=" }
            if all.contains(where: { $0.matches(String(name)) }) { names.append(String(name)) }
            unsafe next = unsafe next?.advanced(by: 1)
        }
        for name in names { unsafe unsetenv(name) }
        return !names.isEmpty
    }
}
