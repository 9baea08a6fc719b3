import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct FileLocks {
    private let path: String
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("lock")
    }

    @Test func rejectASecondOwnerAndNameTheHolder() throws {
        let first = try FileLock(path: path)
        let failure = #expect(throws: FileLock.Failure.self) { _ = try FileLock(path: path) }
        guard case .held(let holder) = failure else { return #expect(failure == nil) }
        #expect(holder == HoldingProcess(reading: getpid()))
        #expect(FileLock.holder(at: path) == holder)
        _ = consume first
        #expect(FileLock.holder(at: path) == nil)
        _ = try FileLock(path: path)  // the lock is free again
    }

    @Test func rejectASecondOwnerWithAnUnknownHolder() throws {
        let descriptor = try OwnedDescriptor(opening: path, O_RDWR | O_CREAT)
        flock(descriptor.raw, LOCK_EX)
        let failure = #expect(throws: FileLock.Failure.self) { _ = try FileLock(path: path) }
        #expect(failure == .held(nil))
    }

    @Test func failIfTheDirectoryIsMissing() {
        let path = directory.path("none/lock")
        let failure = #expect(throws: FileLock.Failure.self) { _ = try FileLock(path: path) }
        #expect(failure == .system(SystemError(call: "open directory \(directory.path("none"))", number: ENOENT)))
    }
}
