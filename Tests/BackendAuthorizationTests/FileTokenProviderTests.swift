import Glibc
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct FileTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van-7")
    private let token = TestTokens.driver(vehicleID: "van-7")

    private func makeProvider(path: String) -> FileTokenProvider {
        FileTokenProvider(path: path, providerID: "p")
    }

    @Test func readTheFileEachTime() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write((token + "\n").utf8, to: "van-7", mode: 0o600)
        let provider = makeProvider(path: directory.path("{vehicleId}"))
        #expect(try await provider.token(for: van7).value == token)
        let next = TestTokens.driver(vehicleID: "van-7", serial: 2)
        let other = try directory.write(#"{"VEHICLE_TOKEN_KEY":"\#(next)"}"#.utf8, to: "other", mode: 0o600)
        try #require(unsafe rename(other, path) == 0)
        #expect(try await provider.token(for: van7).value == next)
    }

    private func origin(ofFileAt path: String) -> TokenOrigin {
        TokenOrigin(.file, path, tokenKey: "VEHICLE_TOKEN_KEY", subject: van7.subject)
    }

    @Test(
        arguments: [
            ("", .nothing(isNull: false)), ("secret", .otherText(bytes: 6, mediaType: nil, hasLines: false)),
            (
                #"{"VEHICLE_TOKEN_KEY":"eyJh"#,
                .invalidJSON(.other, line: 1, column: 22, bytes: 26, mediaType: nil)
            ),
        ] as [(String, AnswerFault)])
    func rejectAFileWithoutAToken(content: String, fault: AnswerFault) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(content.utf8, to: "token", mode: 0o600)
        let error = await #expect(throws: AuthorizationError.self) {
            try await makeProvider(path: path).token(for: van7)
        }
        #expect(error?.fault == .unusableAnswer(origin(ofFileAt: path), fault))
    }

    @Test func rejectAnUnreadableOrUnprotectedFile() async throws {
        let directory = try TemporaryDirectory()
        try #require(unsafe symlink("loop", directory.path("loop")) == 0)
        let open = try directory.write("secret".utf8, to: "open", mode: 0o644)
        for (path, problem) in [
            ("/nonexistent/token", SourceFault.Problem.unreadable(.missing, "No such file or directory")),
            (directory.path("loop"), .unreadable(.linkLoop, "Too many levels of symbolic links")),
            (open, .readableByEveryUser(isMounted: false)),
        ] {
            let fault = TokenFault.sourceUnusable(SourceFault("the token", .file(path), problem))
            await #expect(throws: AuthorizationError(fault)) { try await makeProvider(path: path).token(for: van7) }
        }
    }

    @Test func nameTheirSectionOfTheConfiguration() async {
        let provider = FileTokenProvider(path: "/run/{tripId}", section: "consumerAuthorization", providerID: "p")
        let fault = TokenFault.invalidSetting(
            key: "consumerAuthorization.path", .noValue(placeholder: "tripId", van7))
        await #expect(throws: AuthorizationError(fault)) { try await provider.token(for: van7) }
    }

    @Test(arguments: [(3599.0, false), (3600.0, true), (nil, false)] as [(Double?, Bool)])
    func judgeExpiryByASynchronizedClock(present: Double?, isExpired: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(token.utf8, to: "token", mode: 0o600)
        let provider = FileTokenProvider(
            path: path, providerID: "p", synchronizedClock: { present.map { 1_000_000_000 + $0 } })
        let error: AuthorizationError?
        do throws(AuthorizationError) {
            _ = try await provider.token(for: van7)
            error = nil
        } catch let refusal { error = refusal }
        #expect(
            error?.fault
                == (isExpired ? .expired(origin(ofFileAt: path), .expiredWhenReturned(.synchronizedHost)) : nil))
    }

    /// The lifetime when the file was written, the file's age, and the remaining lifetime, which is `nil` if the clock
    /// can't be right.
    @Test(
        arguments: [
            (3600, 0.0, 3600), (3600, 600, 3000), (3600, -0.5, 3600), (3600, -10, nil), (3600, 3600, nil),
            (3600, 1e9, nil), (nil, 10, nil), (0, 10, 0),
        ] as [(Int?, Double, Int?)])
    func countTheAgeOfTheFile(writtenLifetime: Int?, age: Double, remainingLifetime: Int?) {
        let lifetime = FileTokenProvider.remainingLifetime(
            of: writtenLifetime.map { .seconds($0) }, writtenAt: 5000, now: 5000 + age)
        #expect(lifetime == remainingLifetime.map { .seconds($0) })
    }
}
