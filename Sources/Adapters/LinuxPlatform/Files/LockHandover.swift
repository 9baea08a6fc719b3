import Glibc

/// The descriptors that keep locks held from one run of the service to the next in the same process. A lock by `flock`,
/// or on an open file description, belongs to the open file. The file stays open when the process executes its program
/// again. So the next run locks the same open file again. The attempt succeeds if this process still holds the lock,
/// and never takes the lock from another process.
package enum LockHandover {
    private struct State {
        /// The descriptors of the current run's locks.
        var used: Set<CInt> = []
        /// Duplicates of the descriptors in `used`. They keep the locks held after the originals are closed.
        var kept: [CInt] = []
    }

    private static let state = Locked(State())

    /// Keeps the current locks held until the next run takes them over, even if this run can't close the files that the
    /// locks protect.
    package static func keepLocks() {
        state.withLock { state in
            state.kept += state.used.map { fcntl($0, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }.filter { $0 >= 0 }
        }
    }

    /// Registers a lock that this run uses.
    static func register(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.insert(raw) }
    }

    /// Unregisters a lock that is about to be closed.
    static func unregister(_ descriptor: borrowing OwnedDescriptor) {
        let raw = descriptor.raw
        state.withLock { _ = $0.used.remove(raw) }
    }

    /// The duplicates that keep the locks held, to be inherited by the next image of this process.
    static var descriptors: [CInt] { state.withLock { $0.kept } }

    /// Takes over the locked files that an earlier image of this process kept open. Ignores descriptors of anything but
    /// this user's own regular files.
    static func inherit(_ numbers: [CInt]) {
        let own = numbers.filter { isOwnFile($0) && fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        state.withLock { $0.kept += own }
    }

    /// Removes and returns the kept descriptor of the file at `path`; `nil` if there is none.
    static func takeDescriptor(forFileAt path: String) -> CInt? {
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
