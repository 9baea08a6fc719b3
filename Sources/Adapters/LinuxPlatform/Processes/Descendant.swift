import CLinux
import Glibc

/// A descendant of this process, as shown by `/proc`.
struct Descendant: Hashable {
    let processID: pid_t
    let parent: pid_t
    /// The process's state, a letter from proc(5) such as `S` for sleeping; `nil` if only the id is known.
    var state: Character?
    /// The start time, in clock ticks since the system started. Because ids are reused, only the id and the start time
    /// together identify a process.
    var startTime: UInt64?
}

extension Descendant {
    /// Reads a line of `/proc/PID/stat`. The program's name in that line may contain any character, even a parenthesis.
    init?(status line: String) {
        guard let start = line.firstIndex(of: "("), let end = line.lastIndex(of: ")"),
            let processID = pid_t(line[..<start].filter { $0 != " " })
        else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        guard fields.count > 1, let parent = pid_t(fields[1]) else { return nil }
        self.init(
            processID: processID, parent: parent, state: fields[0].first,
            startTime: fields.count > 19 ? UInt64(fields[19]) : nil)
    }

    /// Reads the process with this id; `nil` if it doesn't exist or `/proc` hides it.
    init?(reading processID: pid_t) {
        guard let bytes = try? FileSystem.read(512, at: 0, of: "/proc/\(processID)/stat") else { return nil }
        self.init(status: String(decoding: bytes, as: UTF8.self))
    }

    /// Whether the process is stopped, traced or dead, or waits in the kernel, so that it can't currently start another
    /// process. In the kernel, a pending signal takes effect before the process can fork. A process in an unknown state
    /// also counts as still.
    var isStill: Bool { state.map { "TtZXxD".contains($0) } ?? true }

    /// Returns the descendants of process `root` among `processes`. Each of them follows its parent.
    static func all(of root: pid_t, among processes: some Sequence<Descendant>) -> [Descendant] {
        let children = Dictionary(grouping: processes, by: \.parent)
        var found = children[root] ?? []
        var next = 0
        // Processes may have changed while the list was read, so it may contain a cycle. `seen` prevents an endless
        // loop.
        var seen = Set(found.map(\.processID)).union([root])
        while next < found.count {
            found += (children[found[next].processID] ?? []).filter { seen.insert($0.processID).inserted }
            next += 1
        }
        return found
    }

    /// All descendants of this process, including those that have ended but haven't been reaped.
    static var all: [Descendant] {
        let own = getpid()
        let shown = FileSystem.visibleNames(inDirectory: "/proc").compactMap(pid_t.init).compactMap(Self.init(reading:))
        let known = Set(shown.map(\.processID))
        // If /proc is mounted with hidepid, it hides other users' processes. The lists of each thread's children still
        // show them, if the kernel provides such lists.
        let listed = FileSystem.visibleNames(inDirectory: "/proc/self/task").flatMap { thread in
            let bytes = (try? FileSystem.read(1 << 16, at: 0, of: "/proc/self/task/\(thread)/children")) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }
        let hidden = Set(listed).subtracting(known).map { Descendant(processID: $0, parent: own) }
        return all(of: own, among: shown + hidden)
    }

    /// Sends a signal to this process, unless its id has been reused for another process. Returns whether this user
    /// isn't allowed to send the signal.
    ///
    /// Pass no `parent` for a child of this process. A child keeps its id until it is reaped, so the caller must not
    /// reap it meanwhile. A more distant descendant may already have been reaped by its own parent. So a distant
    /// descendant is signalled through a pidfd, after checking that it and its parent are still the processes that were
    /// found.
    func signal(_ number: CInt, parent: Descendant?) -> Bool {
        guard let parent else { return kill(processID, number) != 0 && errno == EPERM }
        let raw = clinux_pidfd_open(processID)
        guard raw >= 0 else { return false }
        let descriptor = OwnedDescriptor(owning: raw)
        guard let present = Descendant(reading: processID), present.startTime == startTime,
            present.parent == parent.processID, Descendant(reading: parent.processID)?.startTime == parent.startTime
        else { return false }
        return clinux_pidfd_send_signal(descriptor.raw, number) != 0 && errno == EPERM
    }
}

/// A step of a sweep over all descendants. The descendants are first stopped until none is left that could start
/// another process, and then killed. If they were killed one by one, processes that fork without end would be replaced
/// faster than they are found. A stopped process still counts towards the limit on processes, and so does a dead one
/// until it is reaped. No new process can take its place meanwhile.
enum SweepStep: Hashable {
    case done
    case stop([Descendant])
    case kill([Descendant])

    /// Chooses the next step. `isUrgent` means that stopping has been tried many times without success, perhaps because
    /// the processes resume each other.
    init(for descendants: [Descendant], isUrgent: Bool) {
        let moving = descendants.filter { !$0.isStill }
        self =
            if descendants.isEmpty { .done } else if moving.isEmpty || isUrgent { .kill(descendants) } else {
                .stop(moving)
            }
    }
}
