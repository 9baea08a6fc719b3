import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct FileReplacements {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] { try FileSystem.names(inFolder: folder.url.path).sorted() }
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    @Test func takeTheirPlaceWhenComplete() throws {
        let path = try folder.write("old".utf8, to: "page")
        let file = try FileReplacement(at: path)
        #expect(try text("page") == "old")
        try file.commit(Array("new".utf8))
        #expect(try text("page") == "new")
        #expect(try names() == ["page"])
        #expect(try FileStatus(behind: path).permissions == 0o600)
    }

    @Test func leaveNothingWhenReleased() throws {
        let path = try folder.write("old".utf8, to: "page")
        do {
            let file = try FileReplacement(at: path)
            #expect(try names().count == 2)
            _ = consume file
        }
        #expect(try names() == ["page"])
        #expect(try text("page") == "old")
    }

    @Test func leaveNothingWhenDiscardedWhileHeld() throws {
        let file = try FileReplacement(at: folder.path("page"))
        file.discard()
        #expect(try names().isEmpty)
        withExtendedLifetime(file) {}
    }

    @Test func leaveNothingWhenTheirPlaceIsTakenMeanwhile() throws {
        let file = try FileReplacement(at: folder.path("page"))
        try FileManager.default.createDirectory(atPath: folder.path("page"), withIntermediateDirectories: false)
        #expect(throws: SystemError.self) { try file.commit(Array("new".utf8)) }
        #expect(try names() == ["page"])
        withExtendedLifetime(file) {}
    }

    @Test func followLinks() throws {
        let path = try folder.write("old".utf8, to: "page")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
        try FileReplacement(at: folder.path("link")).commit(Array("new".utf8))
        #expect(try text("page") == "new")
        #expect(FileSystem.isSameFile(path, folder.path("link")))
        #expect(!FileSystem.isSameFile(path, folder.path("missing")))
    }

    @Test(arguments: ["missing/page", "."]) func areRejectedWhereNoFileCanBe(path: String) throws {
        let path = folder.path(path)
        #expect(throws: SystemError.self) { try FileReplacement(at: path) }
    }
}
