/// The kinds of system calls that a program makes on a disk.
package enum DiskCall: String, Sendable, Hashable, CaseIterable {
    case open, read, write, truncate, sync, rename, delete

    /// Whether a power cut during such a call may change what the disk shows.
    package var isChange: Bool { self != .read }
}
