import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct FileSystemTables {
    /// The table, the mounted file systems, and the missing mount point above the outbox.
    @Test(
        arguments: [
            ("/dev/sdb1 /data ext4 defaults 0 2", "/", "/data"),
            ("/dev/sdb1\t/data/\text4", "/", "/data"), ("UUID=7 /data ext4", "/data", nil),
            ("/dev/sdb1 /data ext4\n/dev/sdc1 /data/waypost ext4", "/data", "/data/waypost"),
            ("# /dev/sdb1 /data ext4", "/", nil), ("/dev/sdb1 /dat ext4\nswap none swap", "/", nil),
        ] as [(String, String, String?)])
    func nameTheMissingMountPoint(table: String, mounted: String, mountPoint: String?) throws {
        let directory = try TemporaryDirectory()
        let planned = try directory.write(table.utf8, to: "fstab")
        let mounts = try directory.write(
            "22 1 254:0 / \(mounted) rw,relatime - ext4 /dev/root rw\n".utf8, to: "mountinfo")
        let found = FileSystemTable.unmounted(above: "/data/waypost/outbox.sqlite", table: planned, mounts: mounts)
        #expect(found == mountPoint)
        #expect(FileSystemTable.unmounted(above: "/data/o", table: directory.path("none"), mounts: mounts) == nil)
    }
}
