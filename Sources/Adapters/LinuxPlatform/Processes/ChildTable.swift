package import CLinux
import Glibc

/// The children of this process: the programs that it started, and the processes that these programs left behind.
///
/// A process that leaves its group and loses its parent would be adopted by another process. If allowed
/// (`allowAdoption`), this process becomes the parent of such orphans before it starts its first program, and kills
/// them when no program runs. This happens only if all orphans come from its own programs and can be found. Therefore a
/// process adopts no orphans if it had children before its own start (from a script, before `exec`), if it is the first
/// process of a container, which inherits all orphans, or if there is no `/proc`.
package enum ChildTable {
    private struct State {
        var mayAdopt = false
        /// Whether the process is ending, so that no more programs are started.
        var isClosed = false
        /// The number of programs that have been started and not yet reaped.
        var unreaped = 0
        var running: Set<pid_t> = []
        /// The children that could not be killed. Each value names the program that the child runs, or that left it
        /// behind.
        var survivors: [pid_t: String] = [:]
        /// The number of processes per program that had been killed but had not ended when a sweep ended.
        var unended: [String: Int] = [:]
        /// Whether a thread is still killing the processes in `unended`.
        var isReaping = false
        /// Increases when a child is started or reaped. A list of children from an earlier generation is invalid,
        /// because a process id may have been reused.
        var generation = 0
    }

    /// Processes of a program that prevent its next start.
    package struct Remains: Sendable, Hashable {
        /// The processes that this user may not kill.
        package var refused: [pid_t] = []
        /// The number of processes that a thread is still killing (`keepReaping`).
        package var unended = 0
    }

    /// The time limit of a sweep.
    private static let sweepTime = Duration.seconds(2)

    /// The number of rounds of stopping after which the processes found are killed, even if some still run.
    private static let roundsBeforeKill = 50

    private static let state = Locked(State())

    /// Whether this process adopts orphans. This is decided before the first program is started.
    private static let adopts: Bool =
        getpid() != 1 && findsChildren && Descendant.all.isEmpty && clinux_adopt_orphans() == 0

    /// Whether `/proc`, the only way to find children, shows this process's own namespace. In another namespace, the
    /// ids belong to other processes.
    private static let findsChildren = FileSystem.linkTarget(at: "/proc/self") == String(getpid())

    /// Whether processes that programs leave behind keep running because there is no `/proc` to find them.
    package static var cannotFindChildren: Bool { state.withLock { $0.mayAdopt } && !findsChildren }

    /// Allows adoption. Call it only in a process whose children are all in this table.
    static func allowAdoption() { state.withLock { $0.mayAdopt = true } }

    /// Records that a program is about to be started. A call that doesn't throw must be balanced by a call of `didEnd`.
    static func willStart() throws(SystemError) {
        if state.withLock({ $0.mayAdopt }) { _ = adopts }
        let isClosed = state.withLock { state in
            state.unreaped += 1
            state.generation += 1
            return state.isClosed
        }
        guard isClosed else { return }
        didEnd(nil)
        throw SystemError(call: "start a program during shutdown", number: ECANCELED)
    }

    static func didStart(_ processID: pid_t) { state.withLock { _ = $0.running.insert(processID) } }

    /// Records that a program has been reaped, or, with `nil`, that it could not be started.
    static func didEnd(_ processID: pid_t?) {
        state.withLock { state in
            state.unreaped -= 1
            state.generation += 1
            if let processID { state.running.remove(processID) }
        }
        reapOrphans()
    }

    /// Reaps ended children that no thread waits for. Does so only in the first process of a container, which inherits
    /// every orphan and kills none of them.
    ///
    /// A program's own thread first reaps or registers it. Either is followed by `didEnd`, which calls this function
    /// again.
    static func reapOrphans() {
        guard getpid() == 1 else { return }
        state.withLock { state in
            while state.unreaped == state.running.count {
                let processID = clinux_ended_child()
                guard processID > 0, !state.running.contains(processID) else { return }
                guard waitpid(processID, nil, WNOHANG) == processID else { return }
                state.survivors[processID] = nil
                state.generation += 1
            }
        }
    }

    /// Records that a program hasn't ended although it was killed, or that this user may not kill it (`isRefused`). The
    /// program is remembered until it has ended.
    static func abandon(_ processID: pid_t, of program: String, isRefused: Bool) -> Remains {
        let isSwept = !isRefused && state.withLock { $0.mayAdopt } && adopts
        if !isSwept { state.withLock { $0.survivors[processID] = program } }
        didEnd(processID)
        if isSwept { return endOrphans(of: program) }
        return isRefused ? Remains(refused: [processID]) : Remains(unended: 1)
    }

    /// Returns the processes that an earlier run of `program` left and that can't be killed now.
    static func remains(of program: String) -> Remains {
        state.withLock { state in
            for processID in state.survivors.keys where waitpid(processID, nil, WNOHANG) != 0 {
                state.survivors[processID] = nil
                state.generation += 1
            }
            var remains = Remains(unended: state.unended[program] ?? 0)
            for processID in state.survivors.keys.sorted() where state.survivors[processID] == program {
                // The process may belong to this user by now.
                if kill(processID, SIGKILL) == 0 { remains.unended += 1 } else { remains.refused.append(processID) }
            }
            return remains
        }
    }

    /// Kills the processes that programs left behind. While a program is running, does nothing: the processes are
    /// killed when that program ends.
    ///
    /// Returns the processes that could not be killed, and remembers them under `program`, which has ended.
    static func endOrphans(of program: String) -> Remains {
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard mayAdopt, adopts else { return Remains() }
        guard let remains = endDescendants(while: { $0.unreaped == 0 && !$0.isClosed }) else { return Remains() }
        state.withLock { state in
            for processID in remains.refused { state.survivors[processID] = program }
            if remains.unended == 0 { state.unended = [:] } else { state.unended[program] = remains.unended }
        }
        return remains
    }

    /// Continues to kill the processes that `endOrphans` could not kill within its time limit. Runs on the calling
    /// thread: while processes fork without end, the system has no room for another thread.
    static func keepReaping() {
        func program() -> String? {
            state.withLock { state in
                let program = state.isClosed ? nil : state.unended.keys.first
                state.isReaping = program != nil
                return program
            }
        }
        guard !state.withLock({ $0.isReaping }) else { return }
        var pause: CInt = 10
        while let program = program() {
            _ = poll(nil, 0, pause)
            pause = min(2 * pause, 5000)
            _ = endOrphans(of: program)
        }
    }

    /// Kills all programs and the processes that they left behind. Call it before this process ends.
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
        _ = endDescendants { _ in true }
    }

    /// Reaps the programs that `endAll` killed. Call it before this process re-executes its program, because the next
    /// image doesn't know the killed programs.
    static func reapAll() {
        let end = MonotonicTime.now + .milliseconds(500)
        for processID in state.withLock({ $0.running }) {
            while waitpid(processID, nil, WNOHANG) == 0, MonotonicTime.now < end { _ = poll(nil, 0, 2) }
        }
    }

    /// Stops, kills and reaps all descendants until there are none, as long as `condition` holds. Returns the
    /// descendants that are left, or `nil` if the condition no longer holds.
    private static func endDescendants(while condition: (borrowing State) -> Bool) -> Remains? {
        let start = MonotonicTime.now
        var refused: Set<pid_t> = []
        var left: [Descendant] = []
        var rounds = 0
        while true {
            rounds += 1
            let took = MonotonicTime.now - start
            let generation = state.withLock { $0.generation }
            let found = Descendant.all
            let shouldContinue = state.withLock { state -> Bool? in
                guard condition(state) else { return nil }
                guard state.generation == generation else { return true }
                left = found.filter { state.survivors[$0.processID] == nil && !refused.contains($0.processID) }
                let step = SweepStep(for: left, isUrgent: rounds % roundsBeforeKill == 0)
                guard step != .done else { return false }
                state.generation += 1
                refused.formUnion(perform(step, among: found, sparing: state.running))
                return true
            }
            guard let shouldContinue else { return nil }
            guard shouldContinue, took < sweepTime else { break }
            _ = poll(nil, 0, 2)
        }
        // A descendant becomes a child when its parent has ended, and is found in a later round.
        return Remains(
            refused: refused.filter { waitpid($0, nil, WNOHANG) == 0 }.sorted(),
            unended: left.count { !refused.contains($0.processID) })
    }

    /// Signals the targets of `step`. Returns the targets that may not be signalled. Reaps the killed children, except
    /// `running` programs, which their own threads reap.
    private static func perform(
        _ step: SweepStep, among found: [Descendant], sparing running: Set<pid_t>
    ) -> Set<pid_t> {
        let own = getpid()
        let signal: CInt
        let targets: [Descendant]
        switch step {
        case .done: return []
        case .stop(let moving):
            signal = SIGSTOP
            targets = moving
        case .kill(let all):
            signal = SIGKILL
            targets = all
        }
        let parents = Dictionary(found.map { ($0.processID, $0) }, uniquingKeysWith: { first, _ in first })
        var refused: Set<pid_t> = []
        for target in targets where target.parent == own || parents[target.parent] != nil {
            let parent = target.parent == own ? nil : parents[target.parent]
            if target.signal(signal, parent: parent) { refused.insert(target.processID) }
        }
        guard signal == SIGKILL else { return refused }
        for target in targets where target.parent == own && !running.contains(target.processID) {
            if waitpid(target.processID, nil, WNOHANG) == target.processID { refused.remove(target.processID) }
        }
        return refused
    }
}
