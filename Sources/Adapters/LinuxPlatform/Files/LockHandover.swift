import Glibc

/// Descriptors of locks that stay held between two runs of the service in one process.
///
/// `flock` and open file description locks belong to the open file, which outlives the execution of a program. So the
/// next run locks the same open file again. That succeeds if the lock is its own, and never takes a lock from another
/// process.
package enum LockHandover {
    private struct State {
        /// The descriptors of the current run's locks.
        var used: Set<CInt> = []
        /// Duplicates of the descriptors in `used`, which keep the locks held after the originals are closed.
        var kept: [CInt] = []
    }

    private static let state = Locked(State())

    /// Keeps the current locks held until the next run takes them, even if this run can't close the files that they
    /// protect.
    package static func keepLocks() {
        state.withLock { state in
            state.kept += state.used.map { fcntl($0, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }.filter { $0 >= 0 }
        }
    }

    /// Registers a lock that is in use.
    static func register(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.insert(raw) }
    }

    /// Unregisters a lock that is about to be closed.
    static func unregister(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.remove(raw) }
    }

    /// The duplicates that keep locks held.
    static var descriptors: [CInt] { state.withLock { $0.kept } }

    /// Accepts the locked files that an earlier image of this process kept open. Ignores other descriptors.
    static func inherit(_ numbers: [CInt]) {
        let own = numbers.filter { isOwnFile($0) && fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        state.withLock { $0.kept += own }
    }

    /// Removes and returns the descriptor of the file at `path`; `nil` if none is kept.
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
