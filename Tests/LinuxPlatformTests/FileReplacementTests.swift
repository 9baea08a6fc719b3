import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct FileReplacements {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func names() throws -> [String] { try FileSystem.names(inDirectory: directory.url.path).sorted() }
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @Test func replaceTheFileWhenComplete() throws {
        let path = try directory.write("old".utf8, to: "page")
        let file = try FileReplacement(at: path)
        #expect(try text("page") == "old")
        try file.commit(Array("new".utf8))
        #expect(try text("page") == "new")
        #expect(try names() == ["page"])
        #expect(try FileStatus(followingLinksAt: path).permissions == 0o600)
    }

    @Test func leaveNothingWhenReleased() throws {
        let path = try directory.write("old".utf8, to: "page")
        do {
            let file = try FileReplacement(at: path)
            #expect(try names().count == 2)
            _ = consume file
        }
        #expect(try names() == ["page"])
        #expect(try text("page") == "old")
    }

    @Test func leaveNothingWhenDiscardedWhileHeld() throws {
        let file = try FileReplacement(at: directory.path("page"))
        file.discard()
        #expect(try names().isEmpty)
        withExtendedLifetime(file) {}
    }

    @Test func leaveNothingIfAnotherFileIsCreatedMeanwhile() throws {
        let file = try FileReplacement(at: directory.path("page"))
        try FileManager.default.createDirectory(atPath: directory.path("page"), withIntermediateDirectories: false)
        #expect(throws: SystemError.self) { try file.commit(Array("new".utf8)) }
        #expect(try names() == ["page"])
        withExtendedLifetime(file) {}
    }

    @Test func followLinks() throws {
        let path = try directory.write("old".utf8, to: "page")
        try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: path)
        try FileReplacement(at: directory.path("link")).commit(Array("new".utf8))
        #expect(try text("page") == "new")
        #expect(FileSystem.isSameFile(path, directory.path("link")))
        #expect(!FileSystem.isSameFile(path, directory.path("missing")))
    }

    @Test(arguments: ["missing/page", "."]) func areRejectedWhereNoFileCanBeCreated(path: String) throws {
        let path = directory.path(path)
        #expect(throws: SystemError.self) { try FileReplacement(at: path) }
    }
}
