import Glibc

/// Descriptors of locks that stay held while one run of the service ends and the next one begins.
///
/// `flock` and open file description locks belong to the open file, which outlives the execution of a program. So the
/// next run locks the same open file again: it succeeds if the lock is its own, and never takes one from another
/// process. A descriptor of anything else is not used.
package enum LockHandover {
    private struct State {
        /// The descriptors of locks in use.
        var used: Set<CInt> = []
        /// Descriptors of the same open files, which keep the locks held whatever becomes of those in use.
        var kept: [CInt] = []
    }

    private static let state = Locked(State())

    /// Keeps the locks in use held until the next run takes them, also if this one can't close what they belong to.
    package static func keepLocks() {
        state.withLock { state in
            state.kept += state.used.map { fcntl($0, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }.filter { $0 >= 0 }
        }
    }

    /// Notes that a lock is in use.
    static func begin(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.insert(raw) }
    }

    /// Notes that the owner of a lock is about to close it.
    static func end(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.remove(raw) }
    }

    /// Those that are kept.
    static var descriptors: [CInt] { state.withLock { $0.kept } }

    /// Accepts the descriptors that an earlier image of this process kept open; ignores any other number.
    static func inherit(_ numbers: [CInt]) {
        let own = numbers.filter { isOwnFile($0) && fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        state.withLock { $0.kept += own }
    }

    /// Returns and forgets the descriptor of the very file that is at `path`; `nil` if there is none.
    static func take(_ path: String) -> CInt? {
        guard let identity = (try? FileStatus(at: path))?.identity else { return nil }
        return state.withLock { state in
            guard let index = state.kept.firstIndex(where: { FileStatus(ofRaw: $0)?.identity == identity })
            else { return nil }
            return state.kept.remove(at: index)
        }
    }

    private static func isOwnFile(_ number: CInt) -> Bool {
        guard number > STDERR_FILENO, let status = FileStatus(ofRaw: number) else { return false }
        return status.kind == .file && status.owner == geteuid()
    }
}
