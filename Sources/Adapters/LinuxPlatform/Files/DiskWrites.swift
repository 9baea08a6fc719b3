import CLinux

/// The bytes that this process has written to disks since its start, in whole pages as the kernel counts them
/// (getrusage(2), `ru_oublock`). Writes to a file system in memory aren't counted.
package enum DiskWrites {
    /// The number of bytes written; `nil` if the kernel doesn't report it.
    package static var bytes: Int64? {
        let blocks = clinux_blocks_written()
        return blocks < 0 ? nil : Int64(blocks) * 512
    }
}
