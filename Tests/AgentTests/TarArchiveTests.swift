import FoundationEssentials
import LinuxPlatform
import Testing
import TimeAndChance
import Waypost
import WaypostTestSupport

@Suite struct TarArchives {
    /// As the system's own tar reads them.
    @Test func areReadByTar() async throws {
        let folder = try TemporaryFolder()
        let files: [(String, [UInt8])] = [
            ("a/empty", []), ("a/one", [7]), ("a/block", [UInt8](repeating: 1, count: 512)),
            ("a/b/more", [UInt8](repeating: 2, count: 1025)), ("a/" + String(repeating: "x", count: 98), [9]),
        ]
        var archive = TarArchive(modified: UTCTime(year: 2026, month: 1, day: 5))
        for (name, contents) in files { archive.add(name, contents) }
        archive.finish()
        #expect(archive.bytes.count % 512 == 0)
        try Data(archive.bytes).write(to: folder.url.appending(path: "it.tar"))
        let listing = try await run(["tar", "--list", "--verbose", "--utc", "--file", folder.path("it.tar")])
        #expect(listing.split(separator: "\n").count == files.count)
        #expect(listing.contains("-rw------- 0/0") && listing.contains("2026-01-05 00:00 a/one"), "\(listing)")
        _ = try await run(["tar", "--extract", "--file", folder.path("it.tar"), "--directory", folder.path("")])
        for (name, contents) in files {
            // Not by Foundation, which keeps the memory for an empty file.
            #expect(try BoundedFile.contents(of: folder.path(name), limit: 4096) == contents, "\(name)")
        }
    }

    private func run(_ command: [String]) async throws -> String {
        let outcome = try await ChildProcess(arguments: command, environment: ["PATH": "/usr/bin:/bin"]).run()
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.standardError, as: UTF8.self))")
        return String(decoding: outcome.standardOutput, as: UTF8.self)
    }
}
