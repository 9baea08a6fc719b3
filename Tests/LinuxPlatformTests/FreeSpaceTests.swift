import LinuxPlatform
import Testing

/// A file system's free space.
@Suite struct FreeSpace {
    /// A file system that reports no size, as a tmpfs without a limit does.
    @Test func isUnknownWithoutASize() {
        #expect(FileSystem.freeBytes(at: "/proc") == nil)
        #expect(FileSystem.freeBytes(at: "/") != nil)
    }
}
