import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// The handover from one image of the program to the next one.
@Suite(.serialized) struct NextImages {
    @Test(
        arguments: [
            ("77:7", [7]), ("77:7,8,9", [7, 8, 9]), ("78:7", nil), ("77", nil), ("77:", nil), ("77:7,", nil),
            ("77:7:8", nil), ("77:x", nil), ("", nil), (":7", nil), ("77:7,99999999999", nil),
        ] as [(String, [CInt]?)])
    func nameTheDescriptorsOfTheirProcess(text: String, numbers: [CInt]?) {
        #expect(NextImage.descriptors(namedBy: text, in: 77) == numbers)
    }

    /// A lock stays held by its open file, even after the lock's owner closes its descriptor.
    @Test func keepLocks() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("lock")
        func lockAndHandOver() throws {
            let lock = try FileLock(path: path)
            LockHandover.keepLocks()
            #expect(LockHandover.descriptors.contains { FileStatus(ofRaw: $0) == (try? FileStatus(at: path)) })
            _ = consume lock
        }
        try lockAndHandOver()
        #expect(FileLock.holder(at: path)?.processID == getpid())
        let rival = try OwnedDescriptor(opening: path, O_RDWR)
        #expect(flock(rival.raw, LOCK_EX | LOCK_NB) != 0)
        do {
            let lock = try FileLock(path: path)
            let isHeld = lock.isHeld(at: path)
            #expect(isHeld)
            #expect(try BoundedFile.contents(of: path, limit: 100) == Array("\(getpid())\n".utf8))
        }
        #expect(FileLock.holder(at: path) == nil)
    }

    /// Descriptors that are closed, or that belong to a standard stream, a directory or another file.
    @Test func ignoreOtherDescriptors() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([], to: "lock")
        let other = try OwnedDescriptor(opening: try directory.write([], to: "other"), O_RDWR)
        let parent = try OwnedDescriptor(opening: FileSystem.parent(of: path), O_RDONLY)
        LockHandover.inherit([0, 1, 2, -1, 1 << 20, parent.raw, fcntl(other.raw, F_DUPFD_CLOEXEC, 3)])
        #expect(LockHandover.takeDescriptor(forFileAt: path) == nil)
        #expect(LockHandover.takeDescriptor(forFileAt: directory.path("none")) == nil)
        let taken = try #require(LockHandover.takeDescriptor(forFileAt: directory.path("other")))
        close(taken)
        #expect(LockHandover.descriptors.isEmpty)
    }
}
