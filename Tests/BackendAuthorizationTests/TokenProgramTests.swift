import Glibc
import LinuxPlatform
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

/// What is said of a token command's program that cannot be started, and that nothing is said of one that can.
@Suite(.timeLimit(.minutes(1))) struct TokenPrograms {
    private static let gone = "is not there or cannot be executed; install it, or correct the first line"

    /// The file's first bytes, and what is said behind its path.
    @Test(
        arguments: [
            ("#!/bin/sh\n", nil), ("#! /bin/sh -e\n", nil), ("#!/usr/bin/env sh\n", nil),
            ("#!/usr/bin/env -S sh -e\n", nil),
            ("#!/bin/sh", nil), ("\u{7F}ELF\u{2}", nil),
            ("", "is empty; install the program again"),
            (
                "echo token\n",
                "is a script without an interpreter; make its first line #!/bin/sh, or whatever it is written for"
            ),
            (
                "#!\necho token\n",
                "is a script without an interpreter; make its first line #!/bin/sh, or whatever it is written for"
            ),
            (
                "#!/bin/sh\r\necho\r\n",
                "has the line ends of Windows, which the kernel takes for a part of the interpreter's name; run "
                    + "sed -i 's/\\r$//' FILE"
            ),
            (
                "\u{FEFF}#!/bin/sh\n",
                "begins with a byte order mark, which hides its first line from the kernel; run "
                    + "sed -i '1s/^\\xEF\\xBB\\xBF//' FILE"
            ),
            ("#!/opt/none\n", "begins with #!/opt/none, which \(gone)"),
            (
                "#!/usr/bin/env none\n",
                "begins with #!/usr/bin/env none, and there is no none in /usr/local/bin:/usr/bin:/bin, where a token command "
                    + "looks; install it, or correct the first line"
            ),
        ] as [(String, String?)])
    func saysWhatTheFirstLineIs(text: String, words: String?) {
        let there: Set = ["/bin/sh", "/usr/bin/sh", "/usr/bin/env"]
        let problem = TokenProgram.problem(of: "FILE", .init(Array(text.utf8)), nil, isProgram: there.contains)
        #expect(problem == words.map { "FILE \($0)" })
    }

    @Test(
        arguments: [
            (ENOEXEC, "FILE is made for another kind of processor; install the one for this machine (uname -m)"),
            (
                ENOENT,
                "FILE is made for another system, whose loader is not here; install the one for this machine (file FILE names "
                    + "the loader)"
            ),
            (EACCES, nil),
        ] as [(CInt, String?)])
    func saysOfWhichMachineItIs(refusal: CInt, words: String?) {
        #expect(TokenProgram.problem(of: "FILE", .machineCode, refusal) { _ in true } == words)
    }

    /// As the service meets them when it asks for a token.
    @Test(arguments: [
        ("echo token\n", 0o755, "is a script without an interpreter; "),
        ("#!/bin/sh\r\n", 0o755, "has the line ends of Windows, "),
        ("#!/opt/none\n", 0o755, "begins with #!/opt/none, "),
        ("#!/bin/sh\n", 0o644, "cannot be executed; run chmod +x "),
    ])
    func isSaidOfTheFile(text: String, mode: Int, words: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(text.utf8, to: "program", mode: mode)
        let provider = try CommandTokenProvider(arguments: [path], providerID: "p") { _ in }
        let error = await #expect(throws: AuthorizationError.self) {
            try await provider.token(for: AuthorizationContext(vehicleID: "van-7", taskID: "t"))
        }
        #expect(error?.code == .misconfigured)
        let start = "token command \(path) cannot be started: authorization.command: \(path) \(words)"
        #expect(error?.description.hasPrefix(start) == true, "\(error?.description ?? "")")
    }
}
