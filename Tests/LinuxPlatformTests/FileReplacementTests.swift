import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct FileReplacements {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func fileNames() throws -> [String] { try FileSystem.names(inDirectory: directory.url.path).sorted() }
    private func text(ofFile name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @Test func replaceTheFileWhenComplete() throws {
        let path = try directory.write("old".utf8, to: "page")
        let file = try FileReplacement(at: path)
        #expect(try text(ofFile: "page") == "old")
        try file.commit(Array("new".utf8))
        #expect(try text(ofFile: "page") == "new")
        #expect(try fileNames() == ["page"])
        #expect(try FileStatus(followingLinksAt: path).permissions == 0o600)
    }

    @Test func leaveNoTemporaryFileWhenReleased() throws {
        let path = try directory.write("old".utf8, to: "page")
        do {
            let file = try FileReplacement(at: path)
            #expect(try fileNames().count == 2)
            _ = consume file
        }
        #expect(try fileNames() == ["page"])
        #expect(try text(ofFile: "page") == "old")
    }

    @Test func leaveNoTemporaryFileWhenDiscardedWhileHeld() throws {
        let file = try FileReplacement(at: directory.path("page"))
        file.discard()
        #expect(try fileNames().isEmpty)
        withExtendedLifetime(file) {}
    }

    @Test func leaveNoTemporaryFileIfAnotherFileIsCreatedMeanwhile() throws {
        let file = try FileReplacement(at: directory.path("page"))
        try FileManager.default.createDirectory(atPath: directory.path("page"), withIntermediateDirectories: false)
        #expect(throws: SystemError.self) { try file.commit(Array("new".utf8)) }
        #expect(try fileNames() == ["page"])
        withExtendedLifetime(file) {}
    }

    @Test func followLinks() throws {
        let path = try directory.write("old".utf8, to: "page")
        try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: path)
        try FileReplacement(at: directory.path("link")).commit(Array("new".utf8))
        #expect(try text(ofFile: "page") == "new")
        #expect(FileSystem.isSameFile(path, directory.path("link")))
        #expect(!FileSystem.isSameFile(path, directory.path("missing")))
    }

    @Test(arguments: ["missing/page", "."]) func areRejectedIfNoFileCanBeCreated(path: String) throws {
        let path = directory.path(path)
        #expect(throws: SystemError.self) { try FileReplacement(at: path) }
    }
}
