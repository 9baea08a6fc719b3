import LinuxPlatform
import Testing

/// A file system's free space.
@Suite struct FreeSpace {
    /// The status of a tmpfs without a limit.
    @Test func isUnknownWithoutASize() {
        #expect(FileSystem.freeBytes(at: "/proc") == nil)
        #expect(FileSystem.freeBytes(at: "/") != nil)
    }
}
