import Glibc

/// The values of `errno` after a disk's failure.
package enum DiskErrno {
    package static let interrupted = EINTR
    package static let inputOutput = EIO
    package static let noSpace = ENOSPC
    package static let readOnly = EROFS
    package static let quota = EDQUOT
    package static let denied = EACCES
}
