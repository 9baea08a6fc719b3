import Glibc
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

@Suite struct FileTokenProviders {
    private let van7 = AuthorizationContext(vehicleID: "van-7")
    private let token = TestTokens.driver(vehicleID: "van-7")

    private func provider(_ path: String) -> FileTokenProvider {
        FileTokenProvider(path: path, providerID: "p")
    }

    @Test func readsTheFileEachTime() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write((token + "\n").utf8, to: "van-7", mode: 0o600)
        let provider = provider(folder.path("{vehicleId}"))
        #expect(try await provider.token(for: van7).value == token)
        let next = TestTokens.driver(vehicleID: "van-7", serial: 2)
        let other = try folder.write(#"{"VEHICLE_TOKEN_KEY":"\#(next)"}"#.utf8, to: "other", mode: 0o600)
        try #require(unsafe rename(other, path) == 0)
        #expect(try await provider.token(for: van7).value == next)
    }

    @Test(
        arguments: [
            ("", 0o600, AuthorizationError.Code.unusableAnswer, "; let whoever writes the file write a token, and put"),
            ("secret", 0o600, .unusableAnswer, "gave 6 bytes that are neither a JSON object nor a token"),
            (#"{"VEHICLE_TOKEN_KEY":"eyJh"#, 0o600, .unusableAnswer, "was it cut off, or written in place?"),
            (
                String(TestTokens.driver(vehicleID: "van-7").dropLast(100)), 0o600, .unusableAnswer,
                "expected 256 or more for RS256; was it cut off?"
            ),
            ("secret", 0o644, .misconfigured, "open to every user; run chmod o="),
        ])
    func isRefusedInWords(content: String, mode: Int, code: AuthorizationError.Code, words: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(content.utf8, to: "token", mode: mode)
        let error = await #expect(throws: AuthorizationError.self) { try await provider(path).token(for: van7) }
        #expect(error?.code == code)
        #expect(error?.description.contains(words) == true)
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("secret\(path)") == false)
    }

    @Test func missesItsFileInWords() async {
        let error = await #expect(throws: AuthorizationError.self) {
            try await provider("/nonexistent/token").token(for: van7)
        }
        #expect(
            error?.description
                == "token file /nonexistent/token cannot be read: No such file or directory; "
                + "check the path, and whoever writes the file")
    }

    @Test func isALinkToItself() async throws {
        let folder = try TemporaryFolder()
        try #require(unsafe symlink("token", folder.path("token")) == 0)
        let error = await #expect(throws: AuthorizationError.self) {
            try await provider(folder.path("token")).token(for: van7)
        }
        #expect(error?.description.hasSuffix("; the link leads back to itself: let it lead to the file") == true)
    }

    @Test func namesItsSectionOfTheConfiguration() async {
        let provider = FileTokenProvider(path: "/run/{tripId}", section: "consumerAuthorization", providerID: "p")
        let error = await #expect(throws: AuthorizationError.self) { try await provider.token(for: van7) }
        #expect(error?.description.hasPrefix("consumerAuthorization.path asks for {tripId}") == true)
    }

    @Test(arguments: [(3599.0, false), (3600.0, true), (nil, false)] as [(Double?, Bool)])
    func isOverByAClockThatIsKeptRight(present: Double?, isOver: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(token.utf8, to: "token", mode: 0o600)
        let provider = FileTokenProvider(path: path, providerID: "p", present: { present.map { 1_000_000_000 + $0 } })
        let error: AuthorizationError?
        do throws(AuthorizationError) {
            _ = try await provider.token(for: van7)
            error = nil
        } catch let refusal { error = refusal }
        #expect((error != nil) == isOver)
        let words = "token file \(path) gave a token that was over already, judged by this host's clock, which is "
        #expect(error?.description.hasPrefix(words) ?? !isOver, "\(error?.description ?? "")")
    }

    /// Life when written, age of the file, what is left; `nil` when the clock cannot be right.
    @Test(
        arguments: [
            (3600, 0.0, 3600), (3600, 600, 3000), (3600, -0.5, 3600), (3600, -10, nil), (3600, 3600, nil),
            (3600, 1e9, nil), (nil, 10, nil), (0, 10, 0),
        ] as [(Int?, Double, Int?)])
    func countsTheAgeOfTheFile(life: Int?, age: Double, left: Int?) {
        let lifetime = FileTokenProvider.lifetime(life.map { .seconds($0) }, writtenAt: 5000, now: 5000 + age)
        #expect(lifetime == left.map { .seconds($0) })
    }
}
