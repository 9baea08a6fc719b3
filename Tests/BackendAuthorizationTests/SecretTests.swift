import FoundationEssentials
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct Secrets {
    @Test(arguments: [(0o600, true), (0o640, true), (0o400, true), (0o604, false), (0o644, false), (0o602, false)])
    func areReadUnlessOthersCanReadThem(mode: Int, isRead: Bool) throws {
        let directory = try TemporaryDirectory()
        let template = HeaderTemplate(
            "Authorization", .file(try directory.write(" secret\r\n".utf8, to: "key", mode: mode)))
        if isRead {
            #expect(try template.resolve(in: [:]).value == "secret")
        } else {
            #expect(problem(template) == .readableByEveryUser(isMounted: false))
        }
    }

    /// Returns the reason why a header gets no value.
    private func problem(_ template: HeaderTemplate, environment: [String: String] = [:]) -> SourceFault.Problem? {
        let error = #expect(throws: AuthorizationError.self) { try template.resolve(in: environment) }
        #expect(error?.code == .misconfigured)
        guard case .sourceUnusable(let fault) = error?.fault else { return nil }
        #expect(fault.use == "header \(template.name)" && fault.source == template.secret.source)
        return fault.problem
    }

    @Test(
        arguments: [
            (Secret.file("/nonexistent/key"), .unreadable(.missing, "No such file or directory")),
            (.file("/"), .notAFile), (.file("/dev/zero"), .notAFile), (.environment("KEY"), .notSet),
            (.environment("EMPTY"), .notSet), (.credential("key"), .noCredentials),
            (.credential("/key"), .invalidCredentialName),
        ] as [(Secret, SourceFault.Problem)])
    func areReportedIfMissing(secret: Secret, problem: SourceFault.Problem) {
        #expect(self.problem(HeaderTemplate("X", secret), environment: ["EMPTY": ""]) == problem)
    }

    @Test(
        arguments: [
            ("", .empty), (String(repeating: "x", count: 70_000), .tooLarge(maximumBytes: 65_536)),
        ] as [(String, SourceFault.Problem)])
    func areRejectedIfTheirFileIsEmptyOrTooLarge(content: String, problem: SourceFault.Problem) throws {
        let directory = try TemporaryDirectory()
        let template = HeaderTemplate("X", .file(try directory.write(content.utf8, to: "key", mode: 0o600)))
        #expect(self.problem(template) == problem)
    }

    @Test(
        arguments: [
            (HeaderTemplate.Scheme.bearer, "key", "Bearer key"),
            (.verbatim, "Bearer key", "Bearer key"),
            (.basic, "user:pass", "Basic dXNlcjpwYXNz"),
        ])
    func areSentInTheirScheme(scheme: HeaderTemplate.Scheme, secret: String, value: String) throws {
        let template = HeaderTemplate("Authorization", .literal(secret), scheme: scheme)
        let made = try template.resolve(in: [:])
        #expect(made.value == value && made.secret == secret)
    }

    @Test func areSentWithTheSchemeBearerOnlyOnce() throws {
        let template = HeaderTemplate("Authorization", .literal("bearer  key"), scheme: .bearer)
        let made = try template.resolve(in: [:])
        #expect(made.value == "Bearer key" && made.secret == "key")
    }

    @Test(
        arguments: [
            (Array("key\nother".utf8), .multipleLines), (Array("key".utf16).flatMap { [UInt8($0), 0] }, .notUTF8),
            ([0xFF, 0xFE, 0x6B, 0], .notUTF8),
            (Array(#"{"type": "service_account", "private_key": "-----BEGIN"}"#.utf8), .serviceAccountKey),
        ] as [([UInt8], SourceFault.Problem)])
    func areRejectedInAHeaderIfTheyAreNotOneLineOfText(content: [UInt8], problem: SourceFault.Problem) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(content, to: "key", mode: 0o600)
        #expect(self.problem(HeaderTemplate("Authorization", .file(path), scheme: .bearer)) == problem)
    }

    @Test(arguments: ["Basic dXNlcjpw", "\"key\"", "key of van-7"])
    func areRejectedInTheSchemeBearerIfTheyAreNotASingleKey(secret: String) {
        #expect(problem(HeaderTemplate("Authorization", .literal(secret), scheme: .bearer)) == .invalidKey)
    }

    @Test func areRejectedInTheSchemeBasicIfTheyAreNotAPair() {
        let template = HeaderTemplate("Authorization", .environment("KEY"), scheme: .basic)
        #expect(problem(template, environment: ["KEY": "secret"]) == .invalidPair)
    }

    @Test func areReadFromSystemdCredentials() throws {
        let directory = try TemporaryDirectory()
        try directory.write("secret\n".utf8, to: "key", mode: 0o400)
        try directory.write("".utf8, to: "empty", mode: 0o400)
        // The unit's default for a missing credential is an empty line.
        try directory.write("\n".utf8, to: "unset", mode: 0o400)
        let environment = ["CREDENTIALS_DIRECTORY": directory.url.path]
        #expect(try Secret.credential("key").text(for: "header X", environment: environment) == "secret")
        for (name, problem) in [
            ("none", SourceFault.Problem.noSuchCredential), ("unset", .noSuchCredential), ("empty", .empty),
        ] {
            #expect(self.problem(HeaderTemplate("X", .credential(name)), environment: environment) == problem)
        }
    }

    /// A backend would reject a header without a scheme at each request.
    @Test(
        arguments: [
            ("Authorization", "van:hush", .missingScheme), ("Authorization", "Bearer ${hush}", .unexpandedVariable),
            ("Authorization", "Basic dmFu", nil), ("X-Key", "van:hush", nil),
        ] as [(String, String, SourceFault.Problem?)])
    func requireASchemeInAnAuthorizationHeader(name: String, value: String, problem: SourceFault.Problem?) {
        let template = HeaderTemplate(name, .environment("KEY"))
        guard let problem else {
            #expect(throws: Never.self) { try template.resolve(in: ["KEY": value]) }
            return
        }
        #expect(self.problem(template, environment: ["KEY": value]) == problem)
    }

    @Test func areRejectedIfOthersCanReadThem() throws {
        let directory = try TemporaryDirectory()
        let use = "authorization.clientKeyFile"
        try SecretFile.requireProtected(try directory.write("key".utf8, to: "closed", mode: 0o600), for: use)
        let open = try directory.write("key".utf8, to: "open", mode: 0o644)
        let fault = SourceFault(use, .file(open), .readableByEveryUser(isMounted: false))
        #expect(throws: AuthorizationError(.sourceUnusable(fault))) { try SecretFile.requireProtected(open, for: use) }
    }

    /// Docker and Kubernetes mount a secret with mode 0444 by default.
    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system requires root"))
    func areRejectedOnAReadOnlyMountIfOthersCanReadThem() throws {
        let directory = try TemporaryDirectory()
        let disk = try TinyFileSystem(at: directory.path("secrets"), megabytes: 1)
        let path = try directory.write("key".utf8, to: "secrets/key", mode: 0o444)
        try disk.setReadOnly(true)
        let fault = SourceFault("the token", .file(path), .readableByEveryUser(isMounted: true))
        #expect(throws: AuthorizationError(.sourceUnusable(fault))) {
            try SecretFile.requireProtected(path, for: "the token")
        }
    }
}
