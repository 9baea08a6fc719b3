import LinuxPlatform
import Testing

/// What a file system says of its free space.
@Suite struct FreeSpace {
    /// As that of a tmpfs without a limit.
    @Test func isUnknownWhereThereIsNoSize() {
        #expect(FileSystem.freeBytes(at: "/proc") == nil)
        #expect(FileSystem.freeBytes(at: "/") != nil)
    }
}
