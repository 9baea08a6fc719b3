import Glibc

/// Descriptors of locks that stay held while one run of the service ends and the next one begins.
///
/// `flock` and open file description locks belong to the open file, which outlives the execution of a program. So the
/// next run locks the same open file again: it succeeds if the lock is its own, and never takes one from another
/// process. A descriptor of anything else is not used.
package enum LockHandover {
    private struct State {
        var isUnderWay = false
        var descriptors: [CInt] = []
    }

    private static let state = Locked(State())

    /// Keeps the locks of file locks that are released until `end` is called.
    package static func begin() { state.withLock { $0.isUnderWay = true } }

    /// Lets file locks release their locks again.
    package static func end() { state.withLock { $0.isUnderWay = false } }

    /// Keeps the lock of `descriptor`, which its owner is about to close.
    static func keep(_ descriptor: borrowing OwnedDescriptor) {
        state.withLock { state in
            guard state.isUnderWay else { return }
            let copy = fcntl(descriptor.raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            if copy >= 0 { state.descriptors.append(copy) }
        }
    }

    /// Those that are kept.
    static var descriptors: [CInt] { state.withLock { $0.descriptors } }

    /// Accepts the descriptors that an earlier image of this process kept open; ignores any other number.
    static func inherit(_ numbers: [CInt]) {
        let own = numbers.filter { isOwnFile($0) && fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        state.withLock { $0.descriptors += own }
    }

    /// Returns and forgets the descriptor of the very file that is at `path`; `nil` if there is none.
    static func take(_ path: String) -> CInt? {
        guard let identity = (try? FileStatus(at: path))?.identity else { return nil }
        return state.withLock { state in
            guard let index = state.descriptors.firstIndex(where: { FileStatus(ofRaw: $0)?.identity == identity })
            else { return nil }
            return state.descriptors.remove(at: index)
        }
    }

    private static func isOwnFile(_ number: CInt) -> Bool {
        guard number > STDERR_FILENO, let status = FileStatus(ofRaw: number) else { return false }
        return status.kind == .file && status.owner == geteuid()
    }
}
