import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

@Suite struct ProcessStarts {
    @Test(arguments: [
        "SSLKEYLOGFILE", "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
        "OPENSSL_ia32cap", "GNUTLS_SYSTEM_PRIORITY_FILE", "CURL_CA_BUNDLE", "CURL_SSL_BACKEND", "CURL_HOME", "NETRC",
        "http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "HOSTALIASES",
        "LOCALDOMAIN", "RESOLV_HOST_CONF", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "MALLOC_PERTURB_", "SQLITE_TMPDIR",
    ])
    func takeOutWhatChangesTLSProxiesAndMemory(name: String) {
        #expect(UnwantedVariable.all.filter { $0.matches(name) }.count == 1)
    }

    @Test(arguments: [
        "PATH", "HOME", "TZ", "LANG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM", "CREDENTIALS_DIRECTORY",
        "SWIFT_BACKTRACE", "RES_OPTIONS", "MY_PROXY_PASSWORD", "WAYPOST_KEY", "LD_PRELOAD", "CURLY", "",
    ])
    func leaveTheRest(name: String) {
        #expect(!UnwantedVariable.all.contains { $0.matches(name) })
    }

    @Test func haveAReasonForEach() {
        #expect(UnwantedVariable.all.allSatisfy { !$0.reason.isEmpty })
    }

    @Test(
        arguments: [
            ("4711 (sh) S 12 4711 4711 0", 12), ("1 (a) b) R 3) Z 7 1", 7), ("1 ((sd-pam)) S 1 1", 1), ("", nil),
            ("17 (x)", nil), ("17 x S 3", nil),
        ] as [(String, pid_t?)])
    func findTheParentOfAProcess(line: String, parent: pid_t?) {
        #expect(ChildTable.parent(inStatus: line) == parent)
    }
}

@Suite struct BoundedFiles {
    @Test func areReadWhole() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1, 2, 3], to: "file")
        #expect(try BoundedFile.contents(of: path, limit: 3) == [1, 2, 3])
        #expect(throws: BoundedFile.Refusal.tooLarge(limit: 2)) { try BoundedFile.contents(of: path, limit: 2) }
        #expect(throws: BoundedFile.Refusal.tooLarge(limit: 2)) { try BoundedFile.require(path, limit: 2) }
    }

    /// Files of the kernel have no size and may be long.
    @Test func areNotReadBeyondTheirLimitWhateverTheirSizeSays() {
        #expect(throws: BoundedFile.Refusal.tooLarge(limit: 10)) {
            try BoundedFile.contents(of: "/proc/self/status", limit: 10)
        }
    }

    @Test func areNothingElse() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        try valueOrSystemError("make pipe") { unsafe mkfifo(pipe, 0o600) }
        let others: [(String, FileStatus.Kind)] = [
            (pipe, .fifo), (FileSystem.parent(of: pipe), .folder), ("/dev/zero", .device),
        ]
        for (path, kind) in others {
            #expect(throws: BoundedFile.Refusal.notAFile(kind)) { try BoundedFile.contents(of: path, limit: 10) }
        }
        let error = #expect(throws: BoundedFile.Refusal.self) {
            try BoundedFile.contents(of: folder.path("none"), limit: 10)
        }
        #expect(error?.description == "cannot be read: No such file or directory")
    }
}
