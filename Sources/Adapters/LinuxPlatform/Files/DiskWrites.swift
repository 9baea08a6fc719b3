import CLinux

/// What this process has written to disks since its start, in whole pages as the kernel counts them (getrusage(2),
/// `ru_oublock`); nothing where a folder is in memory.
package enum DiskWrites {
    /// `nil` where the kernel does not say.
    package static var bytes: Int64? {
        let blocks = clinux_blocks_written()
        return blocks < 0 ? nil : Int64(blocks) * 512
    }
}
