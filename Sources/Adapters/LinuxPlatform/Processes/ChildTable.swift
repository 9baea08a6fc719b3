package import CLinux
import Glibc

/// The children of this process: the programs that it started, and the processes that those left behind.
///
/// A process that leaves its group and loses its parent would be adopted by another one. When allowed
/// (`allowAdoption`), this process becomes the parent of such orphans before it starts its first program, and ends them
/// when no program runs. It does so only if whatever it adopts must come from its programs, and is found: not with
/// children from before its own start (a script's, before `exec`), not as the first process of a container, which
/// inherits all orphans, and not without `/proc`.
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
        /// Programs whose processes may be ended but were not yet in the time of a sweep, and how many there were.
        var unended: [String: Int] = [:]
        /// Whether a thread is still ending those.
        var isPursuing = false
        /// Raised when a child comes or goes by our doing; a list of children from before it counts no more, because
        /// the number of a child may be another process's since.
        var generation = 0
    }

    /// Processes of a program that keep it from being started again.
    package struct Remains: Sendable, Hashable {
        /// They may not be ended by this user.
        package var refused: [pid_t] = []
        /// So many are still being ended by a thread (`pursue`).
        package var unended = 0
    }

    /// The longest that a sweep takes.
    private static let sweepTime = Duration.seconds(2)

    /// How often all are looked for and stopped before those that are found are killed all the same.
    private static let patience = 50

    private static let state = Locked(State())

    /// Asked before the first program is started.
    private static let adopts: Bool =
        getpid() != 1 && findsChildren && Descendant.all.isEmpty && clinux_adopt_orphans() == 0

    /// Whether `/proc`, by which alone children are found, has the numbers that processes have here; those of another
    /// namespace are other processes.
    private static let findsChildren = FileSystem.linkTarget(at: "/proc/self") == String(getpid())

    /// Whether what programs leave behind keeps running for want of a `/proc` to find it by.
    package static var cannotFindChildren: Bool { state.withLock { $0.mayAdopt } && !findsChildren }

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
        collectOrphans()
    }

    /// Collects ended children that no thread waits for. Only in the first process of a container, which inherits every
    /// orphan; it ends none of them.
    ///
    /// A program's own thread collects it, or enters it first: both are followed by `didEnd`, which calls this again.
    static func collectOrphans() {
        guard getpid() == 1 else { return }
        state.withLock { state in
            while state.underWay == state.running.count {
                let processID = clinux_ended_child()
                guard processID > 0, !state.running.contains(processID) else { return }
                guard waitpid(processID, nil, WNOHANG) == processID else { return }
                state.survivors[processID] = nil
                state.generation += 1
            }
        }
    }

    /// A program has not ended though it was killed, or may not be killed (`isRefused`); it is remembered until it has.
    static func abandon(_ processID: pid_t, of program: String, isRefused: Bool) -> Remains {
        let isSwept = !isRefused && state.withLock { $0.mayAdopt } && adopts
        if !isSwept { state.withLock { $0.survivors[processID] = program } }
        didEnd(processID)
        if isSwept { return endOrphans(of: program) }
        return isRefused ? Remains(refused: [processID]) : Remains(unended: 1)
    }

    /// What an earlier run of `program` left, as far as it cannot be ended now.
    static func remains(of program: String) -> Remains {
        state.withLock { state in
            for processID in state.survivors.keys where waitpid(processID, nil, WNOHANG) != 0 {
                state.survivors[processID] = nil
                state.generation += 1
            }
            var remains = Remains(unended: state.unended[program] ?? 0)
            for processID in state.survivors.keys.sorted() where state.survivors[processID] == program {
                // It may have become this user's.
                if kill(processID, SIGKILL) == 0 { remains.unended += 1 } else { remains.refused.append(processID) }
            }
            return remains
        }
    }

    /// Ends what programs left behind, unless one runs: then its end will.
    ///
    /// Gives what could not be ended; it is remembered as what `program`, which has ended, left.
    static func endOrphans(of program: String) -> Remains {
        let mayAdopt = state.withLock { $0.mayAdopt }
        guard mayAdopt, adopts else { return Remains() }
        guard let remains = end(while: { $0.underWay == 0 && !$0.isClosed }) else { return Remains() }
        state.withLock { state in
            for processID in remains.refused { state.survivors[processID] = program }
            if remains.unended == 0 { state.unended = [:] } else { state.unended[program] = remains.unended }
        }
        return remains
    }

    /// Goes on ending what `endOrphans` did not in its time. On the thread that it was called on: where processes fork
    /// without end the system has no room for another.
    static func pursue() {
        func program() -> String? {
            state.withLock { state in
                let program = state.isClosed ? nil : state.unended.keys.first
                state.isPursuing = program != nil
                return program
            }
        }
        guard !state.withLock({ $0.isPursuing }) else { return }
        var pause: CInt = 10
        while let program = program() {
            _ = poll(nil, 0, pause)
            pause = min(2 * pause, 5000)
            _ = endOrphans(of: program)
        }
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
        _ = end { _ in true }
    }

    /// Collects the programs that `endAll` killed, for a process that executes its own program again: the next image
    /// knows nothing of them.
    static func collectAll() {
        let end = MonotonicTime.now + .milliseconds(500)
        for processID in state.withLock({ $0.running }) {
            while waitpid(processID, nil, WNOHANG) == 0, MonotonicTime.now < end { _ = poll(nil, 0, 2) }
        }
    }

    /// Stops, kills and collects all descendants until there are none, as long as `condition` holds; gives those that
    /// are left, or `nil` when the condition does not hold any more.
    private static func end(while condition: (borrowing State) -> Bool) -> Remains? {
        let start = MonotonicTime.now
        var refused: Set<pid_t> = []
        var left: [Descendant] = []
        var rounds = 0
        while true {
            rounds += 1
            let took = MonotonicTime.now - start
            let generation = state.withLock { $0.generation }
            let found = Descendant.all
            let goesOn = state.withLock { state -> Bool? in
                guard condition(state) else { return nil }
                guard state.generation == generation else { return true }
                left = found.filter { state.survivors[$0.processID] == nil && !refused.contains($0.processID) }
                let step = SweepStep(for: left, isUrgent: rounds % patience == 0)
                guard step != .done else { return false }
                state.generation += 1
                refused.formUnion(take(step, among: found, sparing: state.running))
                return true
            }
            guard let goesOn else { return nil }
            guard goesOn, took < sweepTime else { break }
            _ = poll(nil, 0, 2)  // for their end
        }
        // What is no child yet becomes one when its parent has ended, and is found then.
        return Remains(
            refused: refused.filter { waitpid($0, nil, WNOHANG) == 0 }.sorted(),
            unended: left.count { !refused.contains($0.processID) })
    }

    /// Gives those that may not be signalled. What has a thread of its own that waits for it (`running`) is collected
    /// there.
    private static func take(
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
