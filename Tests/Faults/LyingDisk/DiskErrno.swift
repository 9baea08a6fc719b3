import Glibc

/// The errors of disks.
package enum DiskErrno {
    package static let interrupted = EINTR
    package static let inputOutput = EIO
    package static let noSpace = ENOSPC
    package static let readOnly = EROFS
    package static let quota = EDQUOT
    package static let denied = EACCES
}
