import Glibc
import LinuxPlatform
import ReportedText
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import BackendAuthorization

/// The reasons why the program of a token command can't be started; none if it can.
@Suite(.timeLimit(.minutes(1))) struct TokenPrograms {
    @Test(
        arguments: [
            ("#!/bin/sh\n", nil), ("#! /bin/sh -e\n", nil), ("#!/usr/bin/env sh\n", nil),
            ("#!/usr/bin/env -S sh -e\n", nil), ("#!/bin/sh", nil), ("\u{7F}ELF\u{2}", nil), ("", .empty("FILE")),
            ("echo token\n", .noInterpreter("FILE")), ("#!\necho token\n", .noInterpreter("FILE")),
            ("#!/bin/sh\r\necho\r\n", .carriageReturn("FILE")), ("\u{FEFF}#!/bin/sh\n", .byteOrderMark("FILE")),
            ("#!/opt/none\n", .interpreterMissing("FILE", "/opt/none")),
            (
                "#!/usr/bin/env none\n",
                .interpreterNotFound(
                    "FILE", firstLine: "#!/usr/bin/env none", name: "none",
                    directories: "/usr/local/bin:/usr/bin:/bin")
            ),
        ] as [(String, ProgramFault?)])
    func areRecognisedByTheirFirstLine(text: String, fault: ProgramFault?) {
        let programs: Set = ["/bin/sh", "/usr/bin/sh", "/usr/bin/env"]
        #expect(
            TokenProgram.problem(of: "FILE", .init(Array(text.utf8)), refusal: nil, isProgram: programs.contains)
                == fault)
    }

    @Test(
        arguments: [(ENOEXEC, .builtForOtherProcessor("FILE")), (ENOENT, .builtForOtherSystem("FILE")), (EACCES, nil)]
            as [(CInt, ProgramFault?)])
    func areCheckedForThisMachine(refusal: CInt, fault: ProgramFault?) {
        #expect(TokenProgram.problem(of: "FILE", .machineCode, refusal: refusal) { _ in true } == fault)
    }

    /// A program's fault is also reported when the service requests a token.
    @Test(arguments: [("echo token\n", 0o755), ("#!/bin/sh\n", 0o644)])
    func areNamedWhenATokenIsRequested(text: String, mode: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(text.utf8, to: "program", mode: mode)
        let provider = try CommandTokenProvider(arguments: [path], providerID: "p") { _ in }
        let fault: ProgramFault = mode == 0o755 ? .noInterpreter(path) : .notExecutable(path)
        await #expect(throws: AuthorizationError(.programUnusable(key: "authorization.command", fault))) {
            try await provider.token(for: AuthorizationContext(vehicleID: "van-7", taskID: "t"))
        }
    }
}
