import FoundationEssentials
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct Secrets {
    @Test(arguments: [(0o600, true), (0o640, true), (0o400, true), (0o604, false), (0o644, false), (0o602, false)])
    func isReadUnlessOthersMay(mode: Int, isRead: Bool) throws {
        let folder = try TemporaryFolder()
        let template = HeaderTemplate(
            "Authorization", .file(try folder.write(" secret\r\n".utf8, to: "key", mode: mode)))
        if isRead {
            #expect(try template.value(environment: [:]).value == "secret")
        } else {
            let error = #expect(throws: AuthorizationError.self) { try template.value(environment: [:]) }
            #expect(error?.description.contains("run chmod o= /") == true)
            #expect(error?.description.contains("secret\r") == false)
        }
    }

    @Test(
        arguments: [
            (
                Secret.file("/nonexistent/key"),
                "the file for header X, /nonexistent/key, cannot be read: No such file or directory; check the path"
            ),
            (.file("/"), "/, is not a file"), (.file("/dev/zero"), "/dev/zero, is not a file"),
            (.environment("KEY"), "environment variable KEY, which is not set"),
            (.environment("EMPTY"), "environment variable EMPTY, which is not set"),
            (
                .credential("key"),
                "header X takes its value from the credential key, which is not there, for systemd has "
            ),
            (
                .credential("/key"),
                "header X takes its value from the credential /key, which no credential can be called"
            ),
        ])
    func isMissedInWords(secret: Secret, words: String) {
        let error = #expect(throws: AuthorizationError.self) {
            try HeaderTemplate("X", secret).value(environment: ["EMPTY": ""])
        }
        #expect(error?.code == .misconfigured)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [("", "is empty"), (String(repeating: "x", count: 70_000), "is larger than 65536 bytes")])
    func isRefusedWhenItsFileHoldsNone(content: String, words: String) throws {
        let folder = try TemporaryFolder()
        let template = HeaderTemplate("X", .file(try folder.write(content.utf8, to: "key", mode: 0o600)))
        let error = #expect(throws: AuthorizationError.self) { try template.value(environment: [:]) }
        #expect(error?.description.contains(words) == true)
    }

    @Test(
        arguments: [
            (HeaderTemplate.Scheme.bearer, "key", "Bearer key"),
            (.verbatim, "Bearer key", "Bearer key"),
            (.basic, "user:pass", "Basic dXNlcjpwYXNz"),
        ])
    func isSentInItsScheme(scheme: HeaderTemplate.Scheme, secret: String, value: String) throws {
        let template = HeaderTemplate("Authorization", .literal(secret), scheme: scheme)
        let made = try template.value(environment: [:])
        #expect(made.value == value && made.secret == secret)
    }

    @Test func isNotCalledBearerTwice() throws {
        let template = HeaderTemplate("Authorization", .literal("bearer  key"), scheme: .bearer)
        let made = try template.value(environment: [:])
        #expect(made.value == "Bearer key" && made.secret == "key")
    }

    @Test(
        arguments: [
            (Array("key\nother".utf8), "has more than one line; write the value alone, in one line"),
            (Array("key".utf16).flatMap { [UInt8($0), 0] }, "is not text in UTF-8, perhaps UTF-16; write it anew"),
            ([0xFF, 0xFE, 0x6B, 0], "is not text in UTF-8"),
            (
                Array(#"{"type": "service_account", "private_key": "-----BEGIN"}"#.utf8),
                "holds the key of a service account, with which whoever has it can sign; keep it in the backend, and"
            ),
        ] as [([UInt8], String)])
    func isOneLineOfTextInAHeader(content: [UInt8], words: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(content, to: "key", mode: 0o600)
        let error = #expect(throws: AuthorizationError.self) {
            try HeaderTemplate("Authorization", .file(path), scheme: .bearer).value(environment: [:])
        }
        #expect(error?.code == .misconfigured)
        let expected = "header Authorization cannot take its value from the file \(path), which \(words)"
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: ["Basic dXNlcjpw", "\"key\"", "key of van-7"])
    func isAKeyAloneBehindBearer(secret: String) {
        let error = #expect(throws: AuthorizationError.self) {
            try HeaderTemplate("Authorization", .literal(secret), scheme: .bearer).value(environment: [:])
        }
        #expect(error?.code == .misconfigured)
        #expect(
            error?.description.contains(" must hold the key alone, without quotes, spaces or the word of another")
                == true)
        #expect(error?.description.contains(secret) == false)
    }

    @Test func isHandedOverBySystemd() throws {
        let folder = try TemporaryFolder()
        try folder.write("secret\n".utf8, to: "key", mode: 0o400)
        try folder.write("".utf8, to: "empty", mode: 0o400)
        // As the unit sets one that is missing.
        try folder.write("\n".utf8, to: "unset", mode: 0o400)
        let environment = ["CREDENTIALS_DIRECTORY": folder.url.path]
        #expect(try Secret.credential("key").text(for: "header X", environment: environment) == "secret")
        for (name, words) in [
            (
                "none",
                "header X takes its value from the credential none, which systemd has not handed over; "
                    + "name it in the unit (LoadCredential or LoadCredentialEncrypted)"
            ),
            (
                "unset",
                "header X takes its value from the credential unset, which systemd has not handed over; "
                    + "name it in the unit (LoadCredential or LoadCredentialEncrypted)"
            ), ("empty", "the credential for header X, \(folder.path("empty")), is empty; write the value to it"),
        ] {
            let error = #expect(throws: AuthorizationError.self) {
                try Secret.credential(name).text(for: "header X", environment: environment)
            }
            #expect(error?.description == words)
        }
    }

    @Test func ofTheSchemeBasicIsAPair() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("secret".utf8, to: "key", mode: 0o600)
        let environment = ["CREDENTIALS_DIRECTORY": folder.url.path, "KEY": "secret"]
        for (secret, source) in [
            (Secret.literal("secret"), "its text"), (.file(path), "the file \(path)"),
            (.environment("KEY"), "the environment variable KEY"), (.credential("key"), "the credential key"),
        ] {
            let template = HeaderTemplate("Authorization", secret, scheme: .basic)
            let error = #expect(throws: AuthorizationError.self) { try template.value(environment: environment) }
            #expect(
                error?.description
                    == "header Authorization has the scheme basic, for which \(source) must read user:password")
        }
    }

    /// As it would be sent: a backend would reject it each time.
    @Test(arguments: [
        ("Authorization", "van:hush", true), ("Authorization", "Basic dmFu", false), ("X-Key", "van:hush", false),
    ])
    func isNoHeaderOfCredentialsWithoutAScheme(name: String, value: String, isFault: Bool) throws {
        let template = HeaderTemplate(name, .environment("KEY"))
        let result = Result { () throws(AuthorizationError) in try template.value(environment: ["KEY": value]).value }
        switch result {
        case .success(let sent): #expect(!isFault && sent == value)
        case .failure(let error):
            #expect(isFault && error.detail.contains("without a scheme") && !error.detail.contains("hush"), "\(error)")
        }
    }

    @Test func isRefusedToEverybodyWhenSomebodyElseReadsIt() throws {
        let folder = try TemporaryFolder()
        try SecretFile.require(
            try folder.write("key".utf8, to: "closed", mode: 0o600), as: "authorization.clientKeyFile")
        let open = try folder.write("key".utf8, to: "open", mode: 0o644)
        let error = #expect(throws: AuthorizationError.self) {
            try SecretFile.require(open, as: "authorization.clientKeyFile")
        }
        #expect(
            error?.description
                == "authorization.clientKeyFile \(open) holds a secret and is open to every user; run chmod o= \(open)")
    }

    /// Docker and Kubernetes mount a secret with mode 0444 unless they are asked for another one.
    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func isClosedWhereItIsMounted() throws {
        let folder = try TemporaryFolder()
        let disk = try TinyFileSystem(at: folder.path("secrets"), megabytes: 1)
        let path = try folder.write("key".utf8, to: "secrets/key", mode: 0o444)
        try disk.setReadOnly(true)
        let error = #expect(throws: AuthorizationError.self) { try SecretFile.require(path, as: "token file") }
        #expect(
            error?.description
                == "token file \(path) holds a secret and is open to every user; mount it with mode 0440 (mode of a Docker "
                + "secret, defaultMode of a Kubernetes volume)")
    }
}
