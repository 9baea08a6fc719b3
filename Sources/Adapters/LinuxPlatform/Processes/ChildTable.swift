package import CLinux
import Glibc

/// The children of this process: the programs that it started, and the processes that those programs left behind.
///
/// A process that leaves its group and loses its parent is an orphan, and would be adopted by another process. After
/// `allowAdoption`, this process adopts such orphans instead, and kills them when no program is running.
///
/// It adopts orphans only if all of them come from its own programs and can be found. So it adopts none in these cases:
/// - It inherited children from a script that executed it (`exec`).
/// - There is no `/proc`.
/// - It is the first process of a container, which inherits all orphans.
package enum ChildTable {
    private struct State {
        var mayAdopt = false
        /// Whether this process is ending and starts no more programs.
        var isClosed = false
        /// The number of programs that have been started but haven't been reaped.
        var unreaped = 0
        var running: Set<pid_t> = []
        /// The children that couldn't be killed. Each value names the program that the child runs, or whose run left it
        /// behind.
        var survivors: [pid_t: String] = [:]
        /// The number of killed processes per program that hadn't ended when the last sweep stopped.
        var unended: [String: Int] = [:]
        /// Whether a thread is still killing the processes in `unended`.
        var isReaping = false
        /// A number that increases when a child is started or reaped. A list of children is invalid if the number has
        /// increased since, because a process id may have been reused.
        var generation = 0
    }

    /// The processes that a program left behind and that prevent its next start.
    package struct Remains: Sendable, Hashable {
        /// The processes that this user may not kill.
        package var refused: [pid_t] = []
        /// The number of processes that have been killed but haven't ended. A thread keeps killing them
        /// (`keepReaping`).
        package var unended = 0
    }

    /// The time limit of a sweep.
    private static let sweepTime = Duration.seconds(2)

    /// The number of rounds after which the remaining processes are killed, even if some of them couldn't be stopped.
    private static let roundsBeforeKill = 50

    private static let state = Locked(State())

    /// Whether this process adopts orphans. The decision is made before the first program is started.
    private static let adoptsOrphans: Bool =
        getpid() != 1 && findsChildren && Descendant.all.isEmpty && clinux_adopt_orphans() == 0

    /// Whether `/proc` shows the process ids of this process's own namespace. Children can be found only there, and in
    /// another namespace the same ids belong to other processes.
    private static let findsChildren = FileSystem.linkTarget(at: "/proc/self") == String(getpid())

    /// Whether this process can't find the processes that programs leave behind, because there is no `/proc`. They then
    /// keep running.
    package static var cannotFindChildren: Bool { state.withLock { $0.mayAdopt } && !findsChildren }

    /// Allows this process to adopt orphans. Call it only in a process whose children are all started through this
    /// table.
    static func allowAdoption() { state.withLock { $0.mayAdopt = true } }

    /// Records that a program is about to be started. Each call that doesn't throw must be followed by one call of
    /// `didEnd`.
    static func willStart() throws(SystemError) {
        if state.withLock({ $0.mayAdopt }) { _ = adoptsOrphans }
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

    /// Records that the program with this process id has been reaped, or that it couldn't be started (`nil`).
    static func didEnd(_ processID: pid_t?) {
        state.withLock { state in
            state.unreaped -= 1
            state.generation += 1
            if let processID { state.running.remove(processID) }
        }
        reapOrphans()
    }

    /// Reaps ended children that no thread waits for. Acts only in the first process of a container, which inherits all
    /// orphans and doesn't kill them.
    /// Stops early if a program has been started but isn't registered yet, or has ended and is about to be reaped by
    /// its own thread. That thread later calls `didEnd`, which calls this function again.
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

    /// Records that a program hasn't ended although it was killed, or that this user isn't allowed to kill it
    /// (`isRefused`). Returns the processes that prevent the program's next start until they have ended.
    static func abandon(_ processID: pid_t, of program: String, isRefused: Bool) -> Remains {
        let isSwept = !isRefused && state.withLock { $0.mayAdopt } && adoptsOrphans
        if !isSwept { state.withLock { $0.survivors[processID] = program } }
        didEnd(processID)
        if isSwept { return endOrphans(of: program) }
        return isRefused ? Remains(refused: [processID]) : Remains(unended: 1)
    }

    /// Returns the processes that an earlier run of `program` left behind and that haven't ended.
    static func remains(of program: String) -> Remains {
        state.withLock { state in
            for processID in state.survivors.keys where waitpid(processID, nil, WNOHANG) != 0 {
                state.survivors[processID] = nil
                state.generation += 1
            }
            var remains = Remains(unended: state.unended[program] ?? 0)
            for processID in state.survivors.keys.sorted() where state.survivors[processID] == program {
                // If the process runs as this process's user again, it can be killed now.
                if kill(processID, SIGKILL) == 0 { remains.unended += 1 } else { remains.refused.append(processID) }
            }
            return remains
        }
    }

    /// Kills the processes that programs left behind. Does nothing while any program is running; the call at the end of
    /// that program kills them.
    ///
    /// Returns the processes that couldn't be killed. These processes are recorded under `program`, which has just
    /// ended.
    static func endOrphans(of program: String) -> Remains {
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard mayAdopt, adoptsOrphans else { return Remains() }
        guard let remains = endDescendants(while: { $0.unreaped == 0 && !$0.isClosed }) else { return Remains() }
        state.withLock { state in
            for processID in remains.refused { state.survivors[processID] = program }
            if remains.unended == 0 { state.unended = [:] } else { state.unended[program] = remains.unended }
        }
        return remains
    }

    /// Keeps killing the processes that `endOrphans` couldn't end within its time limit. Runs on the calling thread,
    /// because processes that fork without end leave the system no room for another thread.
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

    /// Kills all running programs, and the processes that programs left behind. Call it before this process ends.
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
        guard hasStarted, mayAdopt, adoptsOrphans else { return }
        _ = endDescendants { _ in true }
    }

    /// Reaps the programs that `endAll` killed. Call it before this process executes its program again, because the
    /// next image doesn't know about them.
    static func reapAll() {
        let end = MonotonicTime.now + .milliseconds(500)
        for processID in state.withLock({ $0.running }) {
            while waitpid(processID, nil, WNOHANG) == 0, MonotonicTime.now < end { _ = poll(nil, 0, 2) }
        }
    }

    /// Stops, kills and reaps all descendants, until none are left or the time limit is reached. Gives up when
    /// `condition` no longer holds, and then returns `nil`. Otherwise returns the descendants that are left.
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
        // When the parent of a descendant has ended, the descendant becomes a child of this process, and a later round
        // finds it.
        return Remains(
            refused: refused.filter { waitpid($0, nil, WNOHANG) == 0 }.sorted(),
            unended: left.count { !refused.contains($0.processID) })
    }

    /// Signals the processes that `step` names. Returns the processes that this user isn't allowed to signal. Reaps the
    /// killed children, except the `running` programs, which their own threads reap.
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
