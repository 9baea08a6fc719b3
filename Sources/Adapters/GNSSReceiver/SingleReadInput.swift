import Glibc

/// Whether what is at `path` can be read only once, and keeps its reader waiting: a pipe, a terminal, a socket, or `-`,
/// standard input.
package func isReadOnce(_ path: String) -> Bool {
    if path == "-" { return true }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
}
