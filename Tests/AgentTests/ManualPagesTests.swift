import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import WaypostCommand

@Suite struct ManualPages {
    private static func isInstalled(_ program: String) -> Bool {
        FileSystem.isAllowed(.execute, at: "/usr/bin/\(program)")
    }

    private static func write(_ page: ManualPage, in directory: TemporaryDirectory) async throws -> String {
        let outcome = try await BuiltProgram.run(["manual", page.rawValue])
        #expect(outcome.ending == .exited(0))
        return try directory.write(outcome.standardOutput, to: page.rawValue)
    }

    @Test(.enabled(if: isInstalled("man"), "man is not installed"), arguments: ManualPage.allCases)
    func passManWithoutWarnings(page: ManualPage) async throws {
        let directory = try TemporaryDirectory()
        let path = try await Self.write(page, in: directory)
        let outcome = try await ChildProcess(
            arguments: ["/bin/sh", "-c", "exec man --warnings -E UTF-8 -l -Tutf8 -Z \"$0\" >/dev/null", path],
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"],
            timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(0))
        #expect(outcome.standardError.isEmpty, "\(String(decoding: outcome.standardError, as: UTF8.self))")
    }

    @Test(.enabled(if: isInstalled("mandoc"), "mandoc is not installed"), arguments: ManualPage.allCases)
    func passMandocWithoutWarnings(page: ManualPage) async throws {
        let directory = try TemporaryDirectory()
        let path = try await Self.write(page, in: directory)
        let outcome = try await ChildProcess(
            arguments: ["/usr/bin/mandoc", "-T", "lint", "-W", "warning", path], timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardOutput, as: UTF8.self))")
    }

    /// The pages that man formats contain every command and option, spelt with characters that can be typed.
    @Test(.enabled(if: isInstalled("man"), "man is not installed")) func documentEveryCommandAndOption() async throws {
        let directory = try TemporaryDirectory()
        let path = try await Self.write(.commands, in: directory)
        let outcome = try await ChildProcess(
            arguments: ["/usr/bin/man", "-E", "UTF-8", "-l", "-Tutf8", path],
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "GROFF_NO_SGR": "1"],
            timeLimit: BuiltProgram.hangTimeout,
            outputLimit: 1 << 20
        ).run()
        // Bold and italics are overstruck.
        let text = String(decoding: outcome.standardOutput, as: UTF8.self).replacing(/.\u{8}/, with: "")
        for command in CommandCatalog.commands {
            #expect(text.contains("waypost \(command.name)"), "\(command.name)")
            for option in command.options { #expect(text.contains("       \(option.name)"), "\(option.name)") }
            for example in command.examples { #expect(text.contains("waypost \(example)"), "\(example)") }
        }
    }

    /// The date of the build isn't in the pages, so two builds of a release are identical.
    @Test(arguments: ManualPage.allCases) func stateTheDateOfTheRelease(page: ManualPage) {
        #expect(page.text.contains(" 2026-11-01 \"waypost 0.1.0\"\n"))
        #expect(page.text == page.text)
    }

    @Test(arguments: [
        ("outbox list|export --config FILE", #"\fBoutbox\fR \fBlist\fR|\fBexport\fR \fB\-\-config\fR \fIFILE\fR"#),
        ("N|max", #"\fIN\fR|\fBmax\fR"#), ("ID=VEHICLE[:METERS]", #"\fIID\fR=\fIVEHICLE\fR[:\fIMETERS\fR]"#),
    ])
    func distinguishLiteralText(usage: String, roff: String) { #expect(ManualText.usage(usage) == roff) }

    @Test(arguments: [
        (".5 is a number", [".PP", #"\&.5 is a number"#]), ("One. Two.", [".PP", "One.", "Two."]),
        (#"With --raw: C:\x, 'tis"#, [".PP", #"With \-\-raw: C:\ex, 'tis"#]),
    ])
    func escapeTextThatLooksLikeARequest(text: String, lines: [String]) {
        var page = ManualText(name: "x", section: 1, summary: "y")
        page.add(paragraph: text)
        #expect(page.lines.suffix(lines.count) == lines[...])
    }
}
