import CLinux

/// The number of bytes that this process has written to disks since it started. The kernel counts whole pages
/// (getrusage(2), `ru_oublock`) and doesn't count writes to file systems in memory.
package enum DiskWrites {
    /// The number of bytes written; `nil` if the kernel doesn't report it.
    package static var bytes: Int64? {
        let blocks = clinux_blocks_written()
        return blocks < 0 ? nil : Int64(blocks) * 512
    }
}
