import FoundationEssentials
import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// The trusted directories above a file, for the user 1000.
@Suite struct TrustedFolders {
    typealias Sharing = FolderTrust.Sharing

    private static func isTrusted(
        _ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ sharing: Sharing?
    ) -> Bool {
        let folder = FileStatus(kind: .folder, owner: owner, group: group, permissions: mode)
        return FolderTrust.doubt(folder, sharing, for: 1000) == nil
    }

    @Test(
        arguments: [
            (1000, 1000, 0o700, true), (0, 0, 0o755, true), (0, 50, 0o755, true), (1001, 1001, 0o700, false),
            (1001, 1000, 0o755, false), (1000, 1000, 0o777, false), (1000, 1000, 0o775, false), (0, 50, 0o2775, false),
            (0, 0, 0o1777, false), (1000, 1000, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForARecording(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner, group, mode, Sharing.none) == isTrusted)
    }

    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o1770, true), (1001, 1001, 0o1777, false), (0, 0, 0o777, false),
            (1000, 1000, 0o775, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForAFileOfThisUser(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner, group, mode, .sticky) == isTrusted)
    }

    /// Such as `/tmp`, or a directory that a group shares; but not another user's, who could replace it.
    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o777, true), (0, 50, 0o2775, true), (1001, 1001, 0o755, false),
            (1001, 1001, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForNewFiles(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner, group, mode, .any) == isTrusted)
    }

    /// A group with the owner's own number is the owner (useradd creates it).
    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o775, true), (0, 0, 0o775, true), (0, 50, 0o2775, false),
            (1000, 50, 0o775, false), (1000, 1000, 0o777, false), (1001, 1001, 0o755, false),
            (1001, 1001, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedAsAncestors(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner, group, mode, nil) == isTrusted)
    }

    @Test func haveARemedyIfNotTrusted() throws {
        func words(_ folder: FileStatus) -> String? { FolderTrust.doubt(folder, Sharing.none, for: 1000)?.sentence }
        #expect(
            words(FileStatus(kind: .folder, owner: 1001, permissions: 0o700))
                == "belongs to uid 1001, who could put a link in the place of a file; choose a "
                + "directory of uid 1000, or run this as its owner")
        #expect(
            words(FileStatus(kind: .folder, owner: 1000, group: 50, permissions: 0o770))
                == "may be written by members of gid 50, who could put a link in the place of a file; run "
                + "chmod go-w on it, or choose another directory")
        #expect(
            FolderTrust.doubt(
                FileStatus(kind: .folder, owner: 0, group: 2000, permissions: 0o2775), .sticky, for: 1000)?.sentence
                == "may be written by members of gid 2000, who could put a link in the place of a file; run chmod +t on "
                + "it (a Kubernetes volume with fsGroup is so), or choose another directory")
        #expect(
            words(FileStatus(kind: .folder, owner: 0, permissions: 0o1777))
                == "may be written by everybody, who could put a link in the place of a file; choose a directory in it, or "
                + "choose another directory")
    }

    @Test(arguments: [
        (FileStatus(kind: .file, owner: 1000), true), (FileStatus(kind: .file, owner: 0), false),
        (FileStatus(kind: .file, owner: 1000, names: 2), false), (FileStatus(kind: .fifo, owner: 1000), false),
        (FileStatus(kind: .link, owner: 1000), false), (FileStatus(kind: .device, owner: 1000), false),
        (FileStatus(kind: .file, owner: 1000, names: 0), true),
    ])
    func holdFilesThatOnlyTheirOwnerWrites(file: FileStatus, isWritten: Bool) {
        #expect((file.doubt(writtenBy: 1000) == nil) == isWritten)
    }

    /// `private -> theirs`, which systemd creates for a dynamic user, belongs to root or to this user.
    @Test func areFoundThroughTrustedLinks() throws {
        let folder = try TemporaryFolder()
        unsafe mkdir(folder.path("real"), 0o700)
        for (link, target) in [("absolute", folder.path("real")), ("relative", "real"), ("round", "real/../absolute")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
            try FolderTrust.require(folder.path(link))
        }
        unsafe chmod(folder.path("real"), 0o777)
        for link in ["absolute", "relative", "round", "relative/", "real/."] {
            #expect(throws: SystemError.self, "\(link)") { try FolderTrust.require(folder.path(link)) }
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path("loop"), withDestinationPath: "loop")
        let error = #expect(throws: SystemError.self) { try FolderTrust.require(folder.path("loop")) }
        #expect(error?.number == ELOOP)
    }

    /// A missing name can become another user's link at any time.
    @Test(
        arguments: [0o700, 0o1777] as [UInt32],
        ["missing", "missing/too", "real/missing", "dangling", "file", "file/below"])
    func areNotTrustedIfMissing(mode: UInt32, name: String) throws {
        let folder = try Self.folder(mode)
        let error = #expect(throws: SystemError.self) { try FolderTrust.require(folder.path(name)) }
        #expect(error?.number == (name.hasPrefix("file") ? ENOTDIR : ENOENT))
        #expect(try !FolderTrust.require(folder.path(name), missing: .allowed))
        #expect(throws: SystemError.self) { try FolderTrust.destination(of: folder.path(name) + "/file") }
        #expect(try FileSystem.names(inFolder: folder.url.path).count == 3)
    }

    /// Directories are created one after the other, for this user only, and through links of this user.
    @Test(
        arguments: [0o700, 0o1777] as [UInt32], ["new", "new/and/below", "real/new", "dangling/new", "new/./../new/a"])
    func areCreated(mode: UInt32, name: String) throws {
        let folder = try Self.folder(mode)
        #expect(try FolderTrust.require(folder.path(name), .none, missing: .made))
        #expect(try FileStatus(behind: folder.path(name)).permissions == 0o700)
        #expect(try FolderTrust.require(folder.path(name), .none))
    }

    @Test func areNotCreatedInPlaceOfAFile() throws {
        let folder = try Self.folder(0o700)
        let error = #expect(throws: SystemError.self) { try FileSystem.createFolder(at: folder.path("file/below")) }
        #expect(error?.number == ENOTDIR)
    }

    /// Creates a directory `real`, a link to a missing one, and a file in it.
    private static func folder(_ mode: UInt32) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        unsafe mkdir(folder.path("real"), 0o700)
        try FileManager.default.createSymbolicLink(atPath: folder.path("dangling"), withDestinationPath: "absent")
        try folder.write([], to: "file")
        unsafe chmod(folder.url.path, mode)
        return folder
    }

    /// The kinds of files at each component of the path.
    @Test(
        .enabled(if: geteuid() == 0, "only root can make what is another user's"),
        arguments: ["a", "a/b", "a/b/c"], ["link", "folder", "file"])
    func areNotCreatedBelowOtherUsersFiles(place: String, kind: String) throws {
        let folder = try Self.folder(0o1777)
        let victim = try TemporaryFolder()
        let path = folder.path(place)
        try FileSystem.createFolder(at: FileSystem.parent(of: path))
        unsafe chmod(FileSystem.parent(of: path), 0o1777)
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim.url.path)
        case "folder": unsafe mkdir(path, 0o755)
        default: try folder.write([], to: place)
        }
        unsafe lchown(path, 12345, 12345)
        #expect(throws: SystemError.self) { try FileSystem.createFolder(at: folder.path("a/b/c/d")) }
        #expect(try FileSystem.names(inFolder: victim.url.path).isEmpty)
        if kind == "folder" { #expect(try FileSystem.names(inFolder: path).isEmpty) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a link of another user"))
    func areNotFoundThroughLinksOfOthers() throws {
        let folder = try TemporaryFolder()
        unsafe mkdir(folder.path("real"), 0o700)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "real")
        unsafe lchown(folder.path("link"), 12345, 12345)
        let error = #expect(throws: SystemError.self) { try FolderTrust.require(folder.path("link")) }
        #expect(
            error?.description
                == "\(folder.path("link")) is a link of uid 12345 and is not followed; remove it, "
                + "or choose another path")
    }

    @Test(
        arguments: [
            ("closed/file", 0o600, nil), ("closed/file", 0o644, nil),
            ("closed/file", 0o666, "can be changed by every user; run chmod go-w on it"),
            ("open/file", 0o600, "can be replaced: the directory OPEN may be written by everybody"),
            ("closed/none", 0o600, nil),
        ] as [(String, Int, String?)])
    func exposesAFile(path: String, mode: Int, words: String?) throws {
        let folder = try TemporaryFolder()
        for (name, mode) in [("closed", 0o700), ("open", 0o777)] {
            try FileSystem.createFolder(at: folder.path(name))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
        }
        if !path.hasSuffix("none") { try folder.write("x".utf8, to: path, mode: mode) }
        let exposure = FolderTrust.exposure(of: folder.path(path), for: geteuid())
        let expected = words?.replacing("OPEN", with: folder.path("open"))
        #expect(expected.map { exposure?.hasPrefix($0) == true } ?? (exposure == nil), "\(exposure ?? "")")
    }
}
