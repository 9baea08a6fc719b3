import CLinux
import Glibc

/// Whether the limits of the process leave it room enough.
///
/// Memory, or a descriptor of the runtime's own, that cannot be had in the middle of the work ends a Swift program
/// without a word, and for a thread of its pool it waits for ever; so all are asked for at the start, where that can be
/// told. Where memory has no limit (the usual case, and that of a control group) nothing is asked of it.
enum StartNeeds {
    /// The descriptors of a service, with some to spare.
    private static let descriptors = 64
    /// The threads of a service with some to spare; each has a stack of its own.
    private static let threads = 24
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
        let started = Int(clinux_startable_threads(CInt(threads)))
        if started == threads { return }
        let limit = clinux_process_limit()
        LastLine.end(
            "too few threads can be started: \(threads) at least are needed, \(started) could be had; raise the limit of "
                + "the user's processes\(limit < 0 ? "" : ", which is \(limit)") (ulimit -u, LimitNPROC=), or that of the "
                + "control group (TasksMax=)")
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
