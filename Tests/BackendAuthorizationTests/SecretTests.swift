import Testing
import VehicleAuthorization

@testable import BackendAuthorization

@Suite struct SecretSource {
    @Test(arguments: [(0o600, true), (0o640, true), (0o400, true), (0o604, false), (0o644, false), (0o602, false)])
    func isReadUnlessOthersMay(mode: Int, isRead: Bool) throws {
        let folder = try TemporaryFolder()
        let template = HeaderTemplate("Authorization", .file(try folder.file("key", " secret\r\n", mode: mode)))
        if isRead {
            #expect(try template.value(environment: [:]) == "secret")
        } else {
            let error = #expect(throws: AuthorizationError.self) { try template.value(environment: [:]) }
            #expect(error?.description.contains("run chmod o= /") == true)
            #expect(error?.description.contains("secret\r") == false)
        }
    }

    @Test(
        arguments: [
            (Secret.file("/nonexistent/key"), "/nonexistent/key cannot be read: No such file or directory"),
            (.file("/"), "/ is not a file"), (.file("/dev/zero"), "/dev/zero is not a file"),
            (.environment("KEY"), "environment variable KEY, which is not set"),
            (.environment("EMPTY"), "environment variable EMPTY, which is not set"),
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
        let template = HeaderTemplate("X", .file(try folder.file("key", content)))
        let error = #expect(throws: AuthorizationError.self) { try template.value(environment: [:]) }
        #expect(error?.description.contains(words) == true)
    }
}
