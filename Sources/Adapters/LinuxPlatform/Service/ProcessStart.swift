import CLinux
import Glibc

/// What a program corrects before anything else, however it was started.
///
/// For the command alone: it changes what belongs to the whole process, which in an app is the app's.
package enum ProcessStart {
    /// To be called first in `main`, before any thread exists and before any library reads the environment.
    ///
    /// May end the process, with one line of words, when it cannot do its work at all.
    package static func prepare() {
        holdHangup()
        _ = executable
        occupyStandardDescriptors()
        if UnwantedVariable.clearEnvironment() { executeAgain() }
        NextImage.receive()
        signal(SIGCHLD, SIG_DFL)  // inherited as well: ignored, the endings of programs would be lost
        StartNeeds.require()
        ChildTable.allowAdoption()
    }

    /// Blocks SIGHUP, by which a service is asked to reload: one that comes early would end the process, and now waits
    /// for `runService`. It stays blocked when the program is executed again.
    static func holdHangup() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Opens `/dev/null` in the place of standard descriptors that are closed; otherwise a socket or the database would
    /// be given their numbers, and log lines would be written into it. A result that has nowhere to go is an error:
    /// standard output is for reading only then.
    private static func occupyStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one. A folder that may be neither read nor written is as good a place.
            if unsafe open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0 {
                _ = unsafe open("/", O_RDONLY | O_DIRECTORY)
            }
        }
    }

    /// Executes the program again in this process: the loader, the allocator and libraries have read the environment
    /// before `main`. Where that fails, at least what is read later is removed.
    private static func executeAgain() {
        guard let executable else { return }
        _ = unsafe execv(executable, CommandLine.unsafeArgv)
    }

    /// The path of this program, read at the start: an upgrade puts another file there later. Not `/proc/self/exe`
    /// itself, by which the process would be called `exe`.
    package static let executable = FileSystem.linkTarget(at: "/proc/self/exe")
}

/// The environment of this process.
package enum ProcessEnvironment {
    /// By name; the first counts of those that stand twice, as for the C library.
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

/// A variable of the environment that could change what the configuration and the system's own
/// files decide: whom TLS trusts and what it gives away, which way a request takes, how memory is managed.
package struct UnwantedVariable: Sendable {
    /// Its name; `*` at the beginning or the end stands for any letters, and letters of either case are the same.
    package let pattern: String
    /// What it would do.
    package let reason: String

    /// All of them. What is not here stays: `TZ`, `LANG`, systemd's own, and what the configuration names.
    package static let all: [UnwantedVariable] = [
        .init(pattern: "SSLKEYLOGFILE", reason: "writes the secrets of every TLS connection to a file"),
        .init(pattern: "SSL_CERT_FILE", reason: "adds authorities that are trusted; the configuration's caFile does"),
        .init(pattern: "SSL_CERT_DIR", reason: "adds authorities that are trusted; the configuration's caFile does"),
        .init(pattern: "OPENSSL_*", reason: "loads settings, engines and modules into TLS, switches ciphers off"),
        .init(pattern: "GNUTLS_*", reason: "the same for a TLS library that libcurl's own dependencies load"),
        .init(pattern: "CURL_*", reason: "chooses libcurl's authorities, TLS library and files"),
        .init(pattern: "NETRC", reason: "names a file with credentials for hosts"),
        .init(pattern: "*_PROXY", reason: "leads requests, and tokens in them, to another host"),
        .init(pattern: "HOSTALIASES", reason: "makes a host's name lead to another one"),
        .init(pattern: "LOCALDOMAIN", reason: "makes a host's name lead to another domain"),
        .init(pattern: "RESOLV_*", reason: "makes the resolver read other files than the system's"),
        .init(pattern: "GLIBC_TUNABLES", reason: "changes allocator and loader"),
        .init(pattern: "MALLOC_*", reason: "changes the allocator"),
        .init(pattern: "SQLITE_*", reason: "writes parts of the outbox to another folder"),
    ]

    /// Whether a variable of this name is meant.
    package func matches(_ name: String) -> Bool {
        let name = name.uppercased()
        if pattern.hasPrefix("*") { return name.hasSuffix(pattern.dropFirst()) }
        if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
        return name == pattern
    }

    /// Takes all of them out of this process's environment; false when there was none.
    ///
    /// Only while there is one thread: others may be reading.
    static func clearEnvironment() -> Bool {
        let names = ProcessEnvironment.variables.keys.filter { name in all.contains { $0.matches(name) } }
        for name in names { unsafe unsetenv(name) }
        return !names.isEmpty
    }
}

/// Whether the limits of the process suffice.
///
/// Memory, or a descriptor of the runtime's own, that cannot be had in the middle of the work ends a Swift program
/// without a word, and for a thread of its pool it waits for ever; so all are asked for at the start, where that can be
/// told. Where memory has no limit (the usual case, and that of a control group) nothing is asked of it.
enum StartNeeds {
    /// The descriptors of a service, with some to spare.
    private static let descriptors = 64
    /// The threads of a service with some to spare; each has a stack of its own.
    private static let threads = 24
    /// The usual stack of a thread, with room for a large one.
    private static let usualStack = 64 << 20
    /// For everything that is no stack.
    private static let heap = 64 << 20

    /// What a process needs beyond its code, when each thread's stack takes `stack` bytes.
    static func bytes(stack: Int) -> Int { heap + threads * stack }

    /// Ends the process with status 69 and one line when its limits are too small.
    static func require() {
        if FileSystem.linkTarget(at: "/proc/self") == nil {
            LastLine.end("/proc is missing, and Swift's runtime needs it; mount it (mount -t proc proc /proc)")
        }
        if clinux_descriptor_limit() < descriptors {
            LastLine.end(
                "too few open files are allowed: \(descriptors) at least are needed; raise the limit (ulimit -n, "
                    + "LimitNOFILE=)")
        }
        requireMemory()
        requireThreads()
    }

    private static func requireThreads() {
        var reason: CInt = 0
        let started = Int(unsafe clinux_startable_threads(CInt(threads), &reason))
        if started == threads { return }
        LastLine.end(
            threadComplaint(
                started: started, reason: reason, processLimit: clinux_process_limit(),
                stack: clinux_default_stack_size()))
    }

    /// The system gives one reason (EAGAIN) for a lack of processes and for a stack that it has no memory for.
    /// A `processLimit` below zero means no limit.
    static func threadComplaint(
        started: Int, reason: CInt = EAGAIN, processLimit: Int, stack: Int
    ) -> String {
        if reason == EPERM {
            return
                "no thread can be started: Operation not permitted; this container's runtime is older than the system "
                + "call clone3 and refuses it, so update it (Docker 20.10.10 with libseccomp 2.5, or newer)"
        }
        let limit = processLimit < 0 ? "" : ", which is \(processLimit)"
        let processes =
            "raise the limit of the user's processes\(limit) (ulimit -u, LimitNPROC=), or that of the control group "
            + "(TasksMax=)"
        let stacks =
            stack > usualStack
            ? "each asks for a stack of \(stack >> 20) MiB, lower that (ulimit -s, LimitSTACK=); if that does not help, "
            : ""
        return "too few threads can be started: \(threads) at least are needed, \(started) could be had; "
            + stacks + processes
    }

    private static func requireMemory() {
        guard clinux_memory_is_limited() == 1 else { return }
        // Each thread's own arena would reserve 64 MiB of address space and more.
        clinux_use_one_arena()
        let need = bytes(stack: clinux_default_stack_size())
        guard clinux_can_map(need) == 0 else { return }
        let megabytes = (need + (1 << 20) - 1) >> 20
        LastLine.end(
            "not enough memory: \(megabytes) MiB must be left within the limits of address space and data; raise them "
                + "(ulimit -v and -d, LimitAS= and LimitDATA=) or take them away")
    }
}
