import CLinux
import Glibc

/// The children of this process: the programs that it started, and the processes that those left behind.
///
/// A process that leaves its group and loses its parent belongs to nobody whom we know. When it may (`allowAdoption`)
/// the process adopts such orphans before it starts its first program, and ends them when no program is under way. It
/// does so only if whatever it adopts must come from its programs, and is found: not with children from before its own
/// start (a script's, before it gave way to us), not as the first process of a container, which inherits everybody's,
/// and not without `/proc`.
package enum ChildTable {
    private struct State {
        var mayAdopt = false
        /// No program is started any more: the process ends.
        var isClosed = false
        /// Programs between their start and the collection of their ending.
        var underWay = 0
        var running: Set<pid_t> = []
        /// Children that could not be ended, each with the name of its program: that itself, or what it left behind.
        var survivors: [pid_t: String] = [:]
        /// Raised when a child comes or goes by our doing; a list of children from before it counts no more, because
        /// the number of a child may be another process's since.
        var generation = 0
    }

    private static let state = Locked(State())

    /// Asked before the first program is started.
    private static let adopts: Bool =
        getpid() != 1 && findsChildren && children.isEmpty && clinux_adopt_orphans() == 0

    /// Whether `/proc`, by which alone children are found, has the numbers that processes have here; those of another
    /// namespace are other processes.
    private static let findsChildren = FileSystem.linkTarget(at: "/proc/self") == String(getpid())

    /// Whether what programs leave behind goes on for want of a `/proc` to find it by.
    package static var isBlind: Bool { state.withLock { $0.mayAdopt } && !findsChildren }

    /// For a process whose children are all ours.
    static func allowAdoption() { state.withLock { $0.mayAdopt = true } }

    /// To be called before a program is started; every call is followed by `didEnd`.
    static func willStart() throws(SystemError) {
        if state.withLock({ $0.mayAdopt }) { _ = adopts }
        let isClosed = state.withLock { state in
            state.underWay += 1
            state.generation += 1
            return state.isClosed
        }
        guard isClosed else { return }
        didEnd(nil)
        throw SystemError(call: "start a program while the process ends", number: ECANCELED)
    }

    static func didStart(_ processID: pid_t) { state.withLock { _ = $0.running.insert(processID) } }

    /// A program has been collected, or could not be started (`nil`).
    static func didEnd(_ processID: pid_t?) {
        state.withLock { state in
            state.underWay -= 1
            state.generation += 1
            if let processID { state.running.remove(processID) }
        }
    }

    /// A program could not be ended; it is remembered until it has.
    static func gaveUp(_ processID: pid_t, of program: String) {
        remember([processID], of: program)
        didEnd(processID)
    }

    private static func remember(_ processIDs: [pid_t], of program: String) {
        state.withLock { state in
            for processID in processIDs { state.survivors[processID] = program }
        }
    }

    /// A process of an earlier run of `program` that could not be ended and goes on.
    static func survivor(of program: String) -> pid_t? {
        state.withLock { state in
            for processID in state.survivors.keys where waitpid(processID, nil, WNOHANG) != 0 {
                state.survivors[processID] = nil
                state.generation += 1
            }
            let living = state.survivors.keys.filter { state.survivors[$0] == program }
            for processID in living { kill(processID, SIGKILL) }  // it may have become this user's
            return living.min()
        }
    }

    /// Ends what programs left behind, unless one is under way: then its end will.
    ///
    /// Gives what could not be ended in half a second; it is remembered as what `program`, which has ended, left.
    static func endOrphans(of program: String) -> [pid_t] {
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard mayAdopt, adopts else { return [] }
        let left = end(within: .milliseconds(500)) { $0.underWay == 0 }
        remember(left, of: program)
        return left
    }

    /// Ends every program and what they left behind; for the end of the process.
    package static func endAll() {
        let hasStarted = state.withLock { state in
            state.isClosed = true
            for processID in state.running {
                kill(-processID, SIGKILL)
                kill(processID, SIGKILL)
            }
            return state.generation > 0
        }
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard hasStarted, mayAdopt, adopts else { return }
        _ = end(within: .milliseconds(500)) { _ in true }
    }

    /// Kills and collects all children, and those that these leave to us, until there are none, as long as `condition`
    /// holds; gives those that are left.
    private static func end(within limit: Duration, while condition: (borrowing State) -> Bool) -> [pid_t] {
        let deadline = MonotonicTime.now + limit
        var left: [pid_t] = []
        while MonotonicTime.now < deadline {
            let generation = state.withLock { $0.generation }
            let found = children
            let isHeard = state.withLock { state in
                left = []
                guard condition(state) else { return false }
                guard state.generation == generation else { return true }
                state.generation += 1
                var isHeard = false
                for processID in found where state.survivors[processID] == nil {
                    if kill(processID, SIGKILL) == 0 { isHeard = true }
                    // What has a thread of its own waiting for it is collected there.
                    if !state.running.contains(processID), waitpid(processID, nil, WNOHANG) == processID {
                        isHeard = true
                    } else {
                        left.append(processID)
                    }
                }
                return isHeard
            }
            guard isHeard else { break }
            _ = poll(nil, 0, 2)  // for their end
        }
        return left
    }

    /// Every child of this process, also those that have ended and are not collected.
    private static var children: Set<pid_t> {
        let own = getpid()
        let found = FileSystem.visibleNames(inFolder: "/proc").compactMap(pid_t.init)
            .filter { parent(ofProcess: $0) == own }
        // Mounted with hidepid, /proc does not show what belongs to others; these lists do, where the kernel has them.
        let listed = FileSystem.visibleNames(inFolder: "/proc/self/task").flatMap { thread in
            let bytes = (try? FileSystem.read(1 << 16, at: 0, of: "/proc/self/task/\(thread)/children")) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }
        return Set(found + listed)
    }

    private static func parent(ofProcess processID: pid_t) -> pid_t? {
        guard let bytes = try? FileSystem.read(512, at: 0, of: "/proc/\(processID)/stat") else { return nil }
        return parent(inStatus: String(decoding: bytes, as: UTF8.self))
    }

    /// The parent in a line of `/proc/PID/stat`; the program's name before it may hold anything.
    static func parent(inStatus line: String) -> pid_t? {
        guard let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? pid_t(fields[1]) : nil
    }
}
