import FoundationEssentials
import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// Files that another user or program has put at a path to which this user will write.
@Suite struct PlantedFiles {
    /// The ways in which a file is opened for writing.
    enum Writer: String, CaseIterable {
        case lock, reserve, append, creation, replacement

        func write(to path: String) throws {
            switch self {
            case .lock: _ = try FileLock(path: path)
            case .reserve: try FileSystem.reserve(4096, at: path)
            case .append: try OwnedDescriptor(appendingTo: path).writeAll([1].span)
            case .creation: try FileSystem.createFile(at: path)
            case .replacement: try FileReplacement(at: path).commit([1])
            }
        }
    }

    private let directory: TemporaryDirectory
    private let othersDirectory: TemporaryDirectory
    private let path: String
    private let victim: String

    init() throws {
        directory = try TemporaryDirectory()
        othersDirectory = try TemporaryDirectory()
        path = directory.path("place")
        victim = try othersDirectory.write("worth keeping".utf8, to: "victim")
    }

    private var isVictimUnharmed: Bool {
        get throws { try String(contentsOfFile: victim, encoding: .utf8) == "worth keeping" }
    }

    static let isRoot = geteuid() == 0

    @Test(arguments: Writer.allCases.filter { $0 != .replacement })
    func areNotReachedThroughALink(writer: Writer) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        try? writer.write(to: path)
        #expect(try isVictimUnharmed)
    }

    @Test(arguments: Writer.allCases) func areNotCreatedThroughALink(writer: Writer) throws {
        let missing = othersDirectory.path("missing")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: missing)
        if Self.isRoot { unsafe lchown(path, 12345, 12345) }
        try? writer.write(to: path)
        #expect(try writer == .replacement && !Self.isRoot || FileSystem.entry(at: missing) == nil)
    }

    /// A link of this user is followed if the user names the file; another user's link never is.
    @Test(.enabled(if: isRoot, "only root can create another user's link"))
    func areNotReplacedThroughALinkOfOthers() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        unsafe lchown(path, 12345, 12345)
        let error = #expect(throws: SystemError.self) { try Writer.replacement.write(to: path) }
        #expect(error?.reason.hasPrefix("\(path) is a symbolic link that belongs to uid 12345") == true)
        #expect(try isVictimUnharmed)
    }

    @Test(arguments: Writer.allCases) func areNotChangedThroughAHardLink(writer: Writer) throws {
        try FileManager.default.linkItem(atPath: victim, toPath: path)
        try? writer.write(to: path)
        #expect(try isVictimUnharmed)
    }

    @Test(
        .enabled(if: isRoot, "only root can create another user's file"),
        arguments: [Writer.lock, .append, .replacement])
    func areNotWrittenWhenTheyBelongToOthers(writer: Writer) throws {
        try directory.write("worth keeping".utf8, to: "place")
        unsafe chown(path, 12345, 12345)
        #expect(throws: (any Error).self) { try writer.write(to: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "worth keeping")
    }

    @Test(arguments: Writer.allCases.filter { $0 != .replacement }, [0o777, 0o775, 0o770] as [UInt32])
    func areRejectedInADirectoryThatOthersMayWrite(writer: Writer, mode: UInt32) throws {
        unsafe chmod(directory.url.path, mode)
        #expect(throws: (any Error).self) { try writer.write(to: path) }
        #expect(try FileSystem.names(inDirectory: directory.url.path).isEmpty)
    }

    @Test(.enabled(if: isRoot, "only root can create another user's directory"), arguments: Writer.allCases)
    func areRejectedInADirectoryOfOthers(writer: Writer) throws {
        unsafe mkdir(directory.path("below"), 0o755)
        unsafe chown(directory.url.path, 12345, 12345)
        #expect(throws: (any Error).self) { try writer.write(to: directory.path("below/place")) }
        #expect(try FileSystem.names(inDirectory: directory.path("below")).isEmpty)
    }

    /// A free name in a sticky directory can become another user's link, and be free again.
    @Test(.enabled(if: isRoot, "only root can create another user's link"), arguments: Writer.allCases)
    func areNotReachedThroughALinkThatComesAndGoes(writer: Writer) async throws {
        unsafe chmod(directory.url.path, 0o1777)
        let name = path
        let spare = directory.path("spare")
        let target = othersDirectory.url.path
        let ended = Locked(false)
        async let link: Void = onThread(named: "link") {
            while !ended.withLock({ $0 }) {
                unsafe symlink(target, spare)
                unsafe lchown(spare, 12345, 12345)
                unsafe rename(spare, name)  // fails, like other users' renames, if a directory exists
                unsafe unlink(name)
            }
        }
        for _ in 1...200 {
            try? writer.write(to: path + "/victim")
            _ = try? ListeningSocket(on: .unix(path: path + "/socket"))
            if (try? FileSystem.createDirectory(at: path + "/made")) != nil {
                unsafe rmdir(path + "/made")
                unsafe rmdir(path)
            }
        }
        ended.withLock { $0 = true }
        await link
        #expect(try isVictimUnharmed)
        #expect(try FileSystem.names(inDirectory: target) == ["victim"])
    }

    @Test(arguments: Writer.allCases) func areRejectedInAMissingDirectory(writer: Writer) throws {
        #expect(throws: (any Error).self) { try writer.write(to: path + "/file") }
        #expect(try FileSystem.names(inDirectory: directory.url.path).isEmpty)
    }

    /// The directory is like `/tmp`: other users can create files in it, but can't touch this user's files.
    @Test func doNotIncludeThisUsersFilesInAStickyDirectory() throws {
        unsafe chmod(directory.url.path, 0o1777)
        for _ in 1...2 { try Writer.append.write(to: path) }
        #expect(try FileSystem.fileSize(at: path) == 2)
        try Writer.replacement.write(to: path)
        #expect(try FileSystem.fileSize(at: path) == 1)
    }

    /// The kernel allows root to remove every user's files.
    @Test(.enabled(if: isRoot, "only root can create another user's file"), arguments: Writer.allCases)
    func areLeftToTheirOwnersInAStickyDirectory(writer: Writer) throws {
        unsafe chmod(directory.url.path, 0o1777)
        try directory.write("worth keeping".utf8, to: "place")
        unsafe chown(path, 12345, 12345)
        #expect(throws: (any Error).self) { try writer.write(to: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "worth keeping")
    }

    @Test func areReplacedByAReservedFile() throws {
        unsafe mkfifo(path, 0o600)
        try? OwnedDescriptor(opening: path, O_RDWR).writeAll([1].span)
        // Without O_NONBLOCK, opening the pipe would wait.
        let reader = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        try FileSystem.reserve(4096, at: path)
        #expect(try FileSystem.fileSize(at: path) == 4096)
        withExtendedLifetime(reader) {}
    }
}

extension PlantedFiles {
    /// The file that was checked is opened, not one that has replaced it since.
    @Test func areNotUsedAsADevice() throws {
        #expect(throws: SystemError.self) { _ = try OwnedDescriptor(device: victim) }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        _ = try OwnedDescriptor(device: path)
        let device = try #require(try FileStatus(at: "/dev/null"))
        _ = try OwnedDescriptor(opening: "/dev/null", found: device)
        for path in ["/dev/zero", victim] {
            let error = #expect(throws: SystemError.self) { _ = try OwnedDescriptor(opening: path, found: device) }
            #expect(error?.reason == "\(path) has just been replaced; choose another path")
        }
        let error = #expect(throws: SystemError.self) {
            _ = try OwnedDescriptor(opening: path, found: device, O_NOFOLLOW)
        }
        #expect(error?.number == ELOOP)
        #expect(try isVictimUnharmed)
    }

    /// The path of a pipe's descriptor, such as a shell passes for `>(…)`, is a link to nothing.
    @Test func doNotIncludeAnOpenPipe() throws {
        var ends: [CInt] = [0, 0]
        try valueOrSystemError("pipe") { unsafe pipe(&ends) }
        let output = OwnedDescriptor(owning: ends[0])
        let input = OwnedDescriptor(owning: ends[1])
        try OwnedDescriptor(appendingTo: "/dev/fd/\(input.raw)").writeAll([1, 2].span)
        var buffer = [UInt8](repeating: 0, count: 4)
        var span = buffer.mutableSpan
        #expect(try output.read(into: &span) == 2)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.path("missing"))
        let error = #expect(throws: SystemError.self) { _ = try OwnedDescriptor(device: path) }
        #expect(error?.number == ENOENT)
    }

    /// Files that prevent a socket at their path.
    @Test(arguments: ["file", "symbolic link", "directory"]) func areKeptIfASocketIsRequestedAtTheirPath(kind: String)
        throws
    {
        switch kind {
        case "file": try directory.write("worth keeping".utf8, to: "place")
        case "symbolic link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        default: unsafe mkdir(path, 0o700)
        }
        let error = #expect(throws: ListenError.self) { try ListeningSocket(on: .unix(path: path)) }
        #expect(error?.description.contains("\(path) is a \(kind), not a socket") == true, "\(error as Any)")
        #expect(try FileSystem.names(inDirectory: directory.url.path) == ["place"])
        #expect(try isVictimUnharmed)
    }

    @Test(.enabled(if: isRoot, "only root can create another user's socket"))
    func areKeptIfTheyAreSocketsOfOthers() throws {
        let dead = try ListeningSocket(on: .unix(path: path))
        try FileSystem.rename(path, to: path + ".kept")
        dead.close()
        try FileSystem.rename(path + ".kept", to: path)
        unsafe chown(path, 12345, 12345)
        #expect(throws: ListenError.self) { try ListeningSocket(on: .unix(path: path)) }
        #expect(try FileSystem.entry(at: path)?.kind == .socket)
    }

    @Test func areKeptIfTheyReplacedTheSocket() throws {
        let socket = try ListeningSocket(on: .unix(path: path))
        try FileSystem.removeFile(at: path)
        try directory.write("worth keeping".utf8, to: "place")
        socket.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "worth keeping")
    }
}
