/// What a program asks of a disk, one kind of system call each.
package enum DiskCall: String, Sendable, Hashable, CaseIterable {
    case open, read, write, truncate, sync, rename, delete

    /// Whether a disk that loses power during such a call may show something else than before it.
    package var isChange: Bool { self != .read }
}
