import Conditions
import FoundationEssentials
import Glibc
import Reporting
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// The directories above a file, and whether user 1000 trusts them.
@Suite struct TrustedDirectories {
    typealias Sharing = DirectoryTrust.Sharing

    private static func isTrusted(
        owner: UInt32, group: UInt32, mode: UInt32, sharing: Sharing?
    ) -> Bool {
        let directory = FileStatus(kind: .directory, owner: owner, group: group, permissions: mode)
        return DirectoryTrust.refusal(of: directory, sharing: sharing, for: 1000) == nil
    }

    @Test(
        arguments: [
            (1000, 1000, 0o700, true), (0, 0, 0o755, true), (0, 50, 0o755, true), (1001, 1001, 0o700, false),
            (1001, 1000, 0o755, false), (1000, 1000, 0o777, false), (1000, 1000, 0o775, false), (0, 50, 0o2775, false),
            (0, 0, 0o1777, false), (1000, 1000, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForARecording(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner: owner, group: group, mode: mode, sharing: Sharing.none) == isTrusted)
    }

    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o1770, true), (1001, 1001, 0o1777, false), (0, 0, 0o777, false),
            (1000, 1000, 0o775, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForAFileOfThisUser(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner: owner, group: group, mode: mode, sharing: .sticky) == isTrusted)
    }

    /// New files may be created in `/tmp`, or in a directory that a group shares, but not in another user's directory,
    /// which that user could replace.
    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o777, true), (0, 50, 0o2775, true), (1001, 1001, 0o755, false),
            (1001, 1001, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedForNewFiles(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner: owner, group: group, mode: mode, sharing: .any) == isTrusted)
    }

    /// A group with the owner's number is treated as the owner (useradd creates such groups).
    @Test(
        arguments: [
            (0, 0, 0o1777, true), (1000, 1000, 0o775, true), (0, 0, 0o775, true), (0, 50, 0o2775, false),
            (1000, 50, 0o775, false), (1000, 1000, 0o777, false), (1001, 1001, 0o755, false),
            (1001, 1001, 0o1777, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func areTrustedAsAncestors(owner: UInt32, group: UInt32, mode: UInt32, isTrusted: Bool) {
        #expect(Self.isTrusted(owner: owner, group: group, mode: mode, sharing: nil) == isTrusted)
    }

    @Test(
        arguments: [
            (FileStatus(kind: .directory, owner: 1001), .none, .foreignDirectory(owner: "uid 1001", user: "uid 1000")),
            (
                FileStatus(kind: .directory, owner: 1000, group: 50, permissions: 0o770), .none,
                .sharedDirectory(group: 50)
            ),
            (
                FileStatus(kind: .directory, owner: 0, group: 2000, permissions: 0o2775), .sticky,
                .sharedVolume(group: 2000)
            ),
            (
                FileStatus(kind: .directory, owner: 0, permissions: 0o1777), .none,
                .stickyDirectory(group: nil)
            ),
        ] as [(FileStatus, Sharing, PathRefusal.Reason)])
    func areRefusedForAReason(directory: FileStatus, sharing: Sharing, reason: PathRefusal.Reason) {
        #expect(DirectoryTrust.refusal(of: directory, sharing: sharing, for: 1000) == reason)
    }

    @Test(arguments: [
        (FileStatus(kind: .file, owner: 1000), true), (FileStatus(kind: .file, owner: 0), false),
        (FileStatus(kind: .file, owner: 1000, linkCount: 2), false), (FileStatus(kind: .fifo, owner: 1000), false),
        (FileStatus(kind: .link, owner: 1000), false), (FileStatus(kind: .device, owner: 1000), false),
        (FileStatus(kind: .file, owner: 1000, linkCount: 0), true),
    ])
    func holdFilesThatOnlyTheirOwnerWrites(file: FileStatus, isTrusted: Bool) {
        #expect((file.writeRefusal(for: 1000) == nil) == isTrusted)
    }

    /// `private -> theirs`, which systemd creates for a dynamic user, belongs to root or to this user.
    @Test func areFoundThroughTrustedLinks() throws {
        let directory = try TemporaryDirectory()
        unsafe mkdir(directory.path("real"), 0o700)
        for (link, target) in [
            ("absolute", directory.path("real")), ("relative", "real"), ("round", "real/../absolute"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: directory.path(link), withDestinationPath: target)
            try DirectoryTrust.require(directory.path(link))
        }
        unsafe chmod(directory.path("real"), 0o777)
        for link in ["absolute", "relative", "round", "relative/", "real/."] {
            #expect(throws: SystemError.self, "\(link)") { try DirectoryTrust.require(directory.path(link)) }
        }
        try FileManager.default.createSymbolicLink(atPath: directory.path("loop"), withDestinationPath: "loop")
        let error = #expect(throws: SystemError.self) { try DirectoryTrust.require(directory.path("loop")) }
        #expect(error?.number == ELOOP)
    }

    /// A missing name can become another user's symbolic link at any time.
    @Test(
        arguments: [0o700, 0o1777] as [UInt32],
        ["missing", "missing/too", "real/missing", "dangling", "file", "file/below"])
    func areNotTrustedIfMissing(mode: UInt32, name: String) throws {
        let directory = try Self.makeDirectory(mode: mode)
        let error = #expect(throws: SystemError.self) { try DirectoryTrust.require(directory.path(name)) }
        #expect(error?.number == (name.hasPrefix("file") ? ENOTDIR : ENOENT))
        #expect(try !DirectoryTrust.require(directory.path(name), missing: .allowed))
        #expect(throws: SystemError.self) { try DirectoryTrust.destination(of: directory.path(name) + "/file") }
        #expect(try FileSystem.names(inDirectory: directory.url.path).count == 3)
    }

    /// Directories are created one after the other, for this user only, and through symbolic links of this user.
    @Test(
        arguments: [0o700, 0o1777] as [UInt32], ["new", "new/and/below", "real/new", "dangling/new", "new/./../new/a"])
    func areCreatedIfMissing(mode: UInt32, name: String) throws {
        let directory = try Self.makeDirectory(mode: mode)
        #expect(try DirectoryTrust.require(directory.path(name), .none, missing: .created))
        #expect(try FileStatus(followingLinksAt: directory.path(name)).permissions == 0o700)
        #expect(try DirectoryTrust.require(directory.path(name), .none))
    }

    @Test func areNotCreatedInPlaceOfAFile() throws {
        let directory = try Self.makeDirectory(mode: 0o700)
        let error = #expect(throws: SystemError.self) {
            try FileSystem.createDirectory(at: directory.path("file/below"))
        }
        #expect(error?.number == ENOTDIR)
    }

    /// Creates a directory with a directory `real`, a symbolic link to a missing directory, and a file.
    private static func makeDirectory(mode: UInt32) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        unsafe mkdir(directory.path("real"), 0o700)
        try FileManager.default.createSymbolicLink(atPath: directory.path("dangling"), withDestinationPath: "absent")
        try directory.write([], to: "file")
        unsafe chmod(directory.url.path, mode)
        return directory
    }

    /// Each component of the path, and the kind of file at that component.
    @Test(
        .enabled(if: geteuid() == 0, "only root can create another user's files"),
        arguments: ["a", "a/b", "a/b/c"], ["link", "directory", "file"])
    func areNotCreatedBelowOtherUsersFiles(component: String, kind: String) throws {
        let directory = try Self.makeDirectory(mode: 0o1777)
        let victim = try TemporaryDirectory()
        let path = directory.path(component)
        try FileSystem.createDirectory(at: FileSystem.parent(of: path))
        unsafe chmod(FileSystem.parent(of: path), 0o1777)
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim.url.path)
        case "directory": unsafe mkdir(path, 0o755)
        default: try directory.write([], to: component)
        }
        unsafe lchown(path, 12345, 12345)
        #expect(throws: SystemError.self) { try FileSystem.createDirectory(at: directory.path("a/b/c/d")) }
        #expect(try FileSystem.names(inDirectory: victim.url.path).isEmpty)
        if kind == "directory" { #expect(try FileSystem.names(inDirectory: path).isEmpty) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can create another user's link"))
    func areNotFoundThroughLinksOfOthers() throws {
        let directory = try TemporaryDirectory()
        unsafe mkdir(directory.path("real"), 0o700)
        try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: "real")
        unsafe lchown(directory.path("link"), 12345, 12345)
        let error = #expect(throws: SystemError.self) { try DirectoryTrust.require(directory.path("link")) }
        #expect(
            error?.description
                == "\(directory.path("link")) is a symbolic link that belongs to uid 12345 and is not followed; remove it, "
                + "or choose another path")
    }

    @Test(
        arguments: [
            ("closed/file", 0o600, nil), ("closed/file", 0o644, nil),
            ("closed/file", 0o666, .writable(group: nil)),
            (
                "open/file", 0o600,
                .replaceable(PathRefusal(of: "DIRECTORY/open", because: .sharedDirectory(group: nil)))
            ),
            ("closed/none", 0o600, nil),
        ] as [(String, Int, PathExposure?)])
    func reportHowAFileIsExposed(path: String, mode: Int, expected: PathExposure?) throws {
        let directory = try TemporaryDirectory()
        for (name, mode) in [("closed", 0o700), ("open", 0o777)] {
            try FileSystem.createDirectory(at: directory.path(name))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path(name))
        }
        if !path.hasSuffix("none") { try directory.write("x".utf8, to: path, mode: mode) }
        let exposure = DirectoryTrust.exposure(of: directory.path(path), for: geteuid())
        if case .replaceable(let refusal)? = exposure, case .replaceable(let template)? = expected {
            #expect(refusal.path == template.path.replacing("DIRECTORY", with: directory.url.path))
            #expect(refusal.reason == template.reason)
        } else {
            #expect(exposure == expected)
        }
    }
}
