import CLinux
import Glibc

/// The children of this process: the programs that it started, and the processes that those left behind.
///
/// A process that leaves its group and loses its parent belongs to nobody whom we know. When it may (`allowAdoption`)
/// the process adopts such orphans before it starts its first program, and ends them when no program is under way. It
/// does so only if whatever it adopts must come from its programs: not with children from before its own start (a
/// script's, before it gave way to us), and not as the first process of a container, which inherits everybody's.
package enum ChildTable {
    private struct State {
        var mayAdopt = false
        /// No program is started any more: the process ends.
        var isClosed = false
        /// Programs between their start and the collection of their ending.
        var underWay = 0
        var running: Set<pid_t> = []
        /// Programs that could not be ended, by the name under which they were started.
        var survivors: [String: pid_t] = [:]
        /// Raised when a child comes or goes by our doing; a list of children from before it counts no more, because
        /// the number of a child may be another process's since.
        var generation = 0
    }

    private static let state = Locked(State())

    /// Asked before the first program is started.
    private static let adopts: Bool =
        getpid() != 1 && children.isEmpty && clinux_adopt_orphans() == 0

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
        state.withLock { $0.survivors[program] = processID }
        didEnd(processID)
    }

    /// The process of an earlier run of `program` that could not be ended and goes on.
    static func survivor(of program: String) -> pid_t? {
        state.withLock { state in
            guard let processID = state.survivors[program] else { return nil }
            if waitpid(processID, nil, WNOHANG) == 0 { return processID }
            state.survivors[program] = nil
            state.generation += 1
            return nil
        }
    }

    /// Ends what programs left behind, unless one is under way: then its end will.
    ///
    /// Gives what could not be ended in half a second.
    static func endOrphans() -> [pid_t] {
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard mayAdopt, adopts else { return [] }
        return end(within: .milliseconds(500)) { $0.underWay == 0 }
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
                left = found.filter { !state.survivors.values.contains($0) }
                var isHeard = false
                for processID in left {
                    if kill(processID, SIGKILL) == 0 { isHeard = true }
                    // What has a thread of its own waiting for it is collected there.
                    if !state.running.contains(processID) { _ = waitpid(processID, nil, WNOHANG) }
                }
                return isHeard
            }
            guard isHeard else { break }
            _ = poll(nil, 0, 2)  // for their end
        }
        return left
    }

    /// Every child of this process, also those that have ended and are not collected.
    private static var children: [pid_t] {
        let own = getpid()
        return FileSystem.visibleNames(inFolder: "/proc").compactMap(pid_t.init).filter { parent(ofProcess: $0) == own }
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
