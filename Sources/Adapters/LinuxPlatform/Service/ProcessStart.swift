import CLinux
import Glibc

/// Corrections that a program makes to its process when it starts, because it can't rely on how it was started.
///
/// Only the `waypost` command makes them. They change the state of the whole process, which belongs to the app if an
/// app uses Waypost as a library.
package enum ProcessStart {
    /// Makes the corrections. Call this function first in `main`, before any thread exists and before any library reads
    /// the environment.
    ///
    /// If the process can't work at all, ends it with a one-line message.
    package static func prepare() {
        blockHangup()
        _ = executable
        occupyStandardDescriptors()
        if UnwantedVariable.clearEnvironment() { executeAgain() }
        NextImage.receive()
        signal(SIGCHLD, SIG_DFL)  // if a parent ignored it, the exit statuses of programs would be lost
        StartRequirements.require()
        ChildTable.allowAdoption()
    }

    /// Blocks SIGHUP, the request to reload. Otherwise a SIGHUP that arrives early would end the process. A blocked
    /// SIGHUP stays pending until `runService` waits for it. The signal also stays blocked when the program is executed
    /// again.
    static func blockHangup() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Opens `/dev/null` in place of each closed standard descriptor. Otherwise a socket or the database would get the
    /// same number, and log lines would be written into it. Standard output is opened for reading only, so that an
    /// attempt to write a result fails.
    private static func occupyStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // `open` returns the lowest free number, which is `number` here. If `/dev/null` is missing, the root
            // directory is opened instead.
            if unsafe open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0 {
                _ = unsafe open("/", O_RDONLY | O_DIRECTORY)
            }
        }
    }

    /// Executes the program again in this process, with the cleaned environment: the loader, the allocator and some
    /// libraries read it before `main`. If that fails, the variables are at least removed for later readers.
    private static func executeAgain() {
        guard let executable else { return }
        _ = unsafe execv(executable, CommandLine.unsafeArgv)
    }

    /// The path of this program. It is read at the start, because an upgrade may replace the file later. Executing
    /// `/proc/self/exe` instead would change the process's name to `exe`.
    package static let executable = FileSystem.linkTarget(at: "/proc/self/exe")

    /// The proxy variable that `prepare` removed from the environment, if any.
    package static let removedProxyVariable = ProcessEnvironment.variables[UnwantedVariable.removedVariableName]
}

package enum ProcessEnvironment {
    /// The variables by name. If a name occurs twice, the first value applies, as in the C library.
    package static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe clinux_environment()
        while let entry = unsafe next?.pointee {
            let parts = unsafe String(cString: entry).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if variables[name] == nil { variables[name] = parts.count == 2 ? String(parts[1]) : "" }
            unsafe next = unsafe next?.advanced(by: 1)
        }
        return variables
    }
}

/// An environment variable that could override the configuration or the system's files. Such variables change which
/// authorities TLS trusts, what TLS discloses, where requests go, or how memory is managed.
package struct UnwantedVariable: Sendable {
    /// The name in upper case; case is ignored in comparisons. A `*` at the beginning or the end stands for any
    /// characters.
    package let pattern: String
    /// The effect that makes the variable unwanted, as a predicate for its name.
    package let reason: String

    /// All unwanted variables. Any other variable is kept, such as `TZ`, `LANG`, systemd's variables, and those that
    /// the configuration names.
    package static let all: [UnwantedVariable] = [
        .init(pattern: "SSLKEYLOGFILE", reason: "makes TLS write the secrets of every connection to a file"),
        .init(
            pattern: "SSL_CERT_FILE",
            reason: "adds trusted certificate authorities; use the configuration's caFile instead"),
        .init(
            pattern: "SSL_CERT_DIR",
            reason: "adds trusted certificate authorities; use the configuration's caFile instead"),
        .init(pattern: "OPENSSL_*", reason: "loads settings, engines and modules into OpenSSL, or disables ciphers"),
        .init(pattern: "GNUTLS_*", reason: "changes the settings of GnuTLS, which libcurl's dependencies may load"),
        .init(
            pattern: "CURL_*",
            reason: "selects libcurl's certificate authorities, its TLS library and the files it reads"),
        .init(pattern: "NETRC", reason: "points to a file with credentials for hosts"),
        .init(pattern: "*_PROXY", reason: "sends requests, with their tokens, to another host"),
        .init(pattern: "HOSTALIASES", reason: "replaces a host's name with another one"),
        .init(pattern: "LOCALDOMAIN", reason: "makes the resolver search for a host's name in another domain"),
        .init(pattern: "RESOLV_*", reason: "makes the resolver read files other than the system's"),
        .init(pattern: "GLIBC_TUNABLES", reason: "changes the allocator and the loader"),
        .init(pattern: "MALLOC_*", reason: "changes the allocator"),
        .init(pattern: "SQLITE_*", reason: "writes parts of the outbox to another directory"),
    ]

    /// The variable that contains the name of a removed variable with a proxy.
    fileprivate static let removedVariableName = "WAYPOST_REMOVED_VARIABLE"

    /// Whether `name` matches the pattern.
    package func matches(_ name: String) -> Bool {
        let name = name.uppercased()
        if pattern.hasPrefix("*") { return name.hasSuffix(pattern.dropFirst()) }
        if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
        return name == pattern
    }

    /// Removes all unwanted variables from this process's environment. Returns whether there were any.
    ///
    /// Call this function only while the process has a single thread. In a multithreaded process, another thread might
    /// be reading the environment.
    static func clearEnvironment() -> Bool {
        let names = ProcessEnvironment.variables.keys.filter { name in all.contains { $0.matches(name) } }
        for name in names { unsafe unsetenv(name) }
        // The name must outlive the next execution of the program.
        if let proxy = names.sorted().first(where: { ["HTTPS_PROXY", "ALL_PROXY"].contains($0.uppercased()) }) {
            unsafe setenv(removedVariableName, proxy, 1)
        }
        return !names.isEmpty
    }
}

/// A check, made at the start, that the limits of this process are high enough.
///
/// If memory or descriptors run out later, Swift's runtime ends the process without a message. If a thread for its pool
/// can't be created, the runtime waits for that thread forever. So everything is requested once at the start, when a
/// shortage can be reported. Memory is requested only if the process has its own limit; usually there is no limit, or
/// only the limit of a control group.
enum StartRequirements {
    /// The number of descriptors that a service needs, with some to spare.
    private static let descriptors = 64
    /// The number of threads that a service needs, with some to spare. Each thread has its own stack.
    private static let threads = 24
    /// A generous stack size for a thread, in bytes.
    private static let usualStack = 64 << 20
    /// The memory that is needed for everything except stacks, in bytes.
    private static let heap = 64 << 20

    /// Returns the number of bytes that a process needs in addition to its code, if each thread's stack takes `stack`
    /// bytes.
    static func requiredBytes(stack: Int) -> Int { heap + threads * stack }

    /// Ends the process with status 69 and a one-line message if a limit is too low.
    static func require() {
        if FileSystem.linkTarget(at: "/proc/self") == nil {
            FatalExit.exit("/proc is missing, and Swift's runtime needs it; mount it (mount -t proc proc /proc)")
        }
        if clinux_descriptor_limit() < descriptors {
            FatalExit.exit(
                "too few open files are allowed: at least \(descriptors) are needed; raise the limit (ulimit -n, "
                    + "LimitNOFILE=)")
        }
        requireMemory()
        requireThreads()
    }

    private static func requireThreads() {
        var reason: CInt = 0
        let started = Int(unsafe clinux_startable_threads(CInt(threads), &reason))
        if started == threads { return }
        FatalExit.exit(
            threadShortageMessage(
                started: started, reason: reason, processLimit: clinux_process_limit(),
                stack: clinux_default_stack_size()))
    }

    /// Returns the message for a lack of threads. It names two possible causes, because the system reports EAGAIN both
    /// for a limit on processes and for a stack without memory. A negative `processLimit` means no limit.
    static func threadShortageMessage(
        started: Int, reason: CInt = EAGAIN, processLimit: Int, stack: Int
    ) -> String {
        if reason == EPERM {
            return
                "no thread can be started: Operation not permitted; this container's runtime is older than the system "
                + "call clone3 and rejects it; update the runtime (Docker 20.10.10 with libseccomp 2.5, or newer)"
        }
        let limit = processLimit < 0 ? "" : ", which is \(processLimit)"
        let processes =
            "raise the limit of the user's processes\(limit) (ulimit -u, LimitNPROC=), or that of the control group "
            + "(TasksMax=)"
        let stacks =
            stack > usualStack
            ? "reduce the stack of \(stack >> 20) MiB that each requires (ulimit -s, LimitSTACK=); if that does not help, "
            : ""
        return "too few threads can be started: at least \(threads) are needed, but only \(started) started; "
            + stacks + processes
    }

    private static func requireMemory() {
        guard clinux_memory_is_limited() == 1 else { return }
        // A separate arena for each thread would reserve at least 64 MiB of address space.
        clinux_use_one_arena()
        let need = requiredBytes(stack: clinux_default_stack_size())
        guard clinux_can_map(need) == 0 else { return }
        let megabytes = (need + (1 << 20) - 1) >> 20
        FatalExit.exit(
            "not enough memory: \(megabytes) MiB must be available within the limits of address space and data; raise them "
                + "(ulimit -v and -d, LimitAS= and LimitDATA=) or remove them")
    }
}
