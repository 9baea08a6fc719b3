import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import WaypostCommand

@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program dozens of times, which takes seconds under a sanitizer")
)
struct MapCommands {
    private let directory: TemporaryDirectory
    private let tunnel = Fixtures.url("nmea/tunnel.nmea").path

    init() throws { directory = try TemporaryDirectory() }

    private func fileNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func writeOnePageForSeveralLogs() async throws {
        let page = directory.path("page.html")
        try directory.write("<!doctype html>old".utf8, to: "page.html")
        let outcome = try await BuiltProgram.run(["map", Fixtures.url("nmea/town.nmea").path, tunnel, "-o", page])
        #expect(outcome.ending == .exited(0))
        #expect(outcome.standardOutput.isEmpty)
        let message = text(outcome.standardError)
        #expect(message.hasPrefix("waypost: \(tunnel) begins at ") && message.contains(", before the previous log, "))
        #expect(try fileNames() == ["page.html"])
        #expect(try FileStatus(followingLinksAt: page).permissions == 0o600, "only its owner may read a track")
        let html = try String(contentsOf: directory.url.appending(path: "page.html"), encoding: .utf8)
        #expect(html.hasPrefix("<!doctype html>") && html.hasSuffix("</html>\n"))
        #expect(html.contains("town.nmea and 1 more") && html.contains("808"))
    }

    /// The page shows the reported line, and a dot for each past location.
    @Test func drawTheReportedTrackOverTheDrivenOne() async throws {
        func upload(_ vehicle: String) -> String {
            let places = [(1_774_953_060, 53.5), (1_774_953_000, 53.51)].map {
                #"{"heading":null,"latitude":\#($0.1),"longitude":10,"speed":null,"time":\#($0.0)}"#
            }
            return #"{"locations":[\#(places.joined(separator: ","))],"time":1774953000,"vehicle":"\#(vehicle)"}"#
                + "\n"
        }
        try directory.write(upload("van").utf8, to: "one.jsonl")
        try directory.write((upload("van") + upload("bus")).utf8, to: "two.jsonl")
        try directory.write("{}".utf8, to: "none.jsonl")
        func draw(_ name: String) async throws -> ChildProcess.Outcome {
            try await BuiltProgram.run(["map", tunnel, "-o", "-", "--reported", directory.path(name)])
        }
        let page = text(try await draw("one.jsonl").standardOutput)
        #expect(page.contains("</i>past location<") && page.contains("class=\"reported-live\""))
        for (name, words) in [
            ("two.jsonl", "contains 2 vehicles"), ("none.jsonl", "line 1 of"), ("no", "no such file"),
        ] {
            let outcome = try await draw(name)
            #expect(outcome.ending == .exited(64))
            #expect(text(outcome.standardError).lowercased().contains(words), "\(text(outcome.standardError))")
        }
    }

    /// A replay changes the times, so the comparison uses the positions.
    @Test(arguments: [(48.1, true), (53.55, false)])
    func warnAboutReportedPositionsOfAnotherDrive(latitude: Double, isOther: Bool) async throws {
        let upload = #"{"locations":[{"latitude":\#(latitude),"longitude":10,"time":1500000000}],"vehicle":"van"}"#
        try directory.write("\(upload)\n".utf8, to: "up.jsonl")
        let outcome = try await BuiltProgram.run(
            ["map", Fixtures.url("nmea/town.nmea").path, "-o", "-", "--reported", directory.path("up.jsonl")])
        #expect(outcome.ending == .exited(0))
        let words = text(outcome.standardError)
        #expect(words.contains("is within 1 km of the track: the file belongs to another drive") == isOther, "\(words)")
        #expect(words.isEmpty == !isOther, "\(words)")
    }

    @Test func readStandardInputAndWriteStandardOutput() async throws {
        let outcome = try await ChildProcess(
            arguments: ["/bin/sh", "-c", "gzip -c \"$1\" | \"$0\" map - -o -", BuiltProgram.waypost, tunnel],
            environment: ["PATH": "/usr/bin:/bin"].merging(BuiltProgram.environment) { $1 },
            timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 22
        ).run()
        #expect(outcome.ending == .exited(0))
        #expect(text(outcome.standardOutput).contains("<title>standard input - Waypost</title>"))
    }

    @Test func drawTheTrackBeforeTheDamageAndReportTheDamage() async throws {
        let lines = try String(contentsOfFile: tunnel, encoding: .utf8)
        let log = try directory.write(lines.utf8, to: "whole.nmea")
        let archive = try await ChildProcess(
            arguments: ["gzip", "-c", log], timeLimit: BuiltProgram.hangTimeout, outputLimit: 1 << 22
        ).run()
        try directory.write(archive.standardOutput.dropLast(9), to: "cut.nmea.gz")
        let page = directory.path("page.html")
        let outcome = try await BuiltProgram.run(["map", directory.path("cut.nmea.gz"), "-o", page])
        #expect(outcome.ending == .exited(65))
        #expect(text(outcome.standardError).contains("is a truncated archive"))
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("<b>Incomplete log:</b>") && html.contains("is a truncated archive"))
    }

    @Test func leaveNoFileForALogWithoutAFix() async throws {
        let log = try directory.write("$GPRMC,,V,,,,,,,,,,N*53\r\n".utf8, to: "drive.nmea")
        let outcome = try await BuiltProgram.run(["map", log, "-o", directory.path("page.html")])
        #expect(outcome.ending == .exited(65))
        #expect(
            text(outcome.standardError).hasPrefix("waypost: no fix in \(log): "))
        #expect(try fileNames() == ["drive.nmea"])
    }

    @Test(arguments: [
        ("missing/page.html", "there is no directory "), (".", "it is a directory; choose a file in it"),
    ])
    func nameAPathThatCannotBeWritten(path: String, remedy: String) async throws {
        let page = directory.path(path)
        let outcome = try await BuiltProgram.run(["map", tunnel, "-o", page])
        #expect(outcome.ending == .exited(1))
        #expect(text(outcome.standardError).hasPrefix("waypost: \(page) cannot be written: \(remedy)"))
        #expect(try fileNames().isEmpty)
    }

    @Test(arguments: [
        ("/disk", EACCES, "this user cannot write to /disk; choose a file elsewhere"),
        (
            "/disk", EFBIG,
            "it would exceed the size limit (ulimit -f, or the file system's limit); choose a file elsewhere"
        ),
        ("/disk", EROFS, "/disk is on a read-only file system; mount it for writing, or choose a file elsewhere"),
        ("/disk", ENOENT, "there is no directory /disk; create it, or choose another file"),
        ("/proc", ENOENT, "/proc belongs to the kernel and accepts no files; choose a file elsewhere"),
    ])
    func nameTheRemedyForAnUnwritableFile(directory: String, errorNumber: CInt, remedy: String) {
        let error = UnwritableFile(
            path: "\(directory)/page.html", cause: SystemError(call: "open", number: errorNumber))
        #expect(error.description == "\(directory)/page.html cannot be written: \(remedy)")
    }

    @Test func neverReplaceALogOrADevice() async throws {
        let log = try directory.write(String(contentsOfFile: tunnel, encoding: .utf8).utf8, to: "drive.nmea")
        try FileManager.default.createSymbolicLink(atPath: directory.path("link.html"), withDestinationPath: log)
        let outcome = try await BuiltProgram.run(["map", log, "-o", directory.path("link.html")])
        #expect(outcome.ending == .exited(64))
        #expect(try FileSystem.fileSize(at: log) > 90_000)
        let device = try await BuiltProgram.run(["map", log, "-o", "/dev/null"])
        #expect(device.ending == .exited(0))
        #expect(try FileSystem.entry(at: "/dev/null")?.kind == .device)
    }

    /// The shell expands the pattern in `-o *.nmea`, and the first log becomes the page's name.
    @Test func neverReplaceAnotherFile() async throws {
        let other = try directory.write("$GPRMC,,V,,,,,,,,,,N*53\r\n".utf8, to: "other.nmea")
        let outcome = try await BuiltProgram.run(["map", "-o", other, tunnel])
        #expect(outcome.ending == .exited(64))
        #expect(
            text(outcome.standardError).hasPrefix(
                "waypost: -o \(other) exists and is not a page written by waypost; choose another file"))
        #expect(try FileSystem.fileSize(at: other) == 25)
        for contents in ["", "<!doctype html>\n<p>old</p>", "\u{FEFF}\n<HTML></HTML>"] {
            let page = try directory.write(contents.utf8, to: "page.html")
            #expect(try await BuiltProgram.run(["map", tunnel, "-o", page]).ending == .exited(0), "\(contents)")
        }
    }

    /// A killed command can't clean up. The next one does, but keeps files that are still being written.
    @Test func removeTheFilesThatAKilledCommandLeft() async throws {
        let log = directory.path("log")
        unsafe mkfifo(log, 0o600)
        let writer = try OwnedDescriptor(opening: log, O_RDWR)  // keeps the pipe open: the commands wait for more
        let kept = try directory.write("a part of something else".utf8, to: "drive.1.part")
        let programs = try ["killed.html", "running.html"].map {
            try RunningProgram([BuiltProgram.waypost, "map", log, "-o", directory.path($0)])
        }
        while try fileNames().count(where: { $0.hasSuffix(".part") }) < 3 {
            try Task.checkCancellation()
            await Task.yield()
        }
        programs[0].signal(SIGKILL)
        await programs[0].end()
        let outcome = try await BuiltProgram.run(["map", tunnel, "-o", directory.path("page.html")])
        #expect(outcome.ending == .exited(0))
        let left = try fileNames().filter { $0.hasSuffix(".part") }
        #expect(left.count == 2 && left.contains("drive.1.part"))
        #expect(left.contains { $0.hasPrefix("running.html.") })
        #expect(try FileSystem.entry(at: kept) != nil)
        await programs[1].terminate()
        withExtendedLifetime(writer) {}
    }
}
