import CLinux
import Glibc

extension StartedProcess {
    /// posix_spawn(3): leader of a new group, signals unblocked and as by default, input empty.
    static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String], output: CInt, errors: CInt
    ) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // Libraries may have opened descriptors without close-on-exec.
        unsafe clinux_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Our main thread blocks the signals that it waits for; the child must be endable by them.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var processID: pid_t = 0
        let code = unsafe withStringVector(arguments) { argv in
            unsafe withStringVector(environment) { envp in
                unsafe posix_spawnp(&processID, program, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw SystemError(call: "start \(program)", number: code) }
        return processID
    }
}

/// Calls `body` with a null-terminated array of C strings, valid during the call.
private func withStringVector<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the vector has at least its end") }
        return unsafe body(start)
    }
}

extension Duration {
    /// For poll(2): milliseconds, rounded up; zero when past.
    var pollTimeout: CInt {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return .max }
        return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
