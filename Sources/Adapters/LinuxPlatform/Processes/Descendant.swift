import CLinux
import Glibc

/// A process that descends from this one, as shown by `/proc`.
struct Descendant: Hashable {
    let processID: pid_t
    let parent: pid_t
    /// The state as a letter of proc(5), such as `S` for a sleeping process; `nil` if only the id is known.
    var state: Character?
    /// The start time in clock ticks since the system started. Together with the id it identifies a process, because
    /// ids are reused.
    var startTime: UInt64?
}

extension Descendant {
    /// Reads a line of `/proc/PID/stat`. The program name in that line may contain any character.
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

    /// Reads the process with this id; `nil` if it doesn't exist or isn't shown.
    init?(reading processID: pid_t) {
        guard let bytes = try? FileSystem.read(512, at: 0, of: "/proc/\(processID)/stat") else { return nil }
        self.init(status: String(decoding: bytes, as: UTF8.self))
    }

    /// Whether the process is unable to start another one: it is stopped, traced or dead, or waits in the kernel, where
    /// a pending signal acts before a fork. A process in an unknown state is treated as still.
    var isStill: Bool { state.map { "TtZXxD".contains($0) } ?? true }

    /// Returns the descendants of process `root` among `processes`, each after its parent.
    static func all(of root: pid_t, among processes: some Sequence<Descendant>) -> [Descendant] {
        let children = Dictionary(grouping: processes, by: \.parent)
        var found = children[root] ?? []
        var next = 0
        // The list may have changed while it was read, so it could contain a cycle. `seen` prevents an endless loop.
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
        // A /proc mounted with hidepid hides other users' processes. The lists of children show them, if the kernel
        // provides these lists.
        let listed = FileSystem.visibleNames(inDirectory: "/proc/self/task").flatMap { thread in
            let bytes = (try? FileSystem.read(1 << 16, at: 0, of: "/proc/self/task/\(thread)/children")) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }
        let hidden = Set(listed).subtracting(known).map { Descendant(processID: $0, parent: own) }
        return all(of: own, among: shown + hidden)
    }

    /// Sends a signal to this process, but not to one that has been given its id since. Returns whether sending the
    /// signal is forbidden.
    ///
    /// A child keeps its id until it is reaped, which the caller must prevent. A more distant descendant may have been
    /// reaped by its parent. So it is signalled through a pidfd, after checking that it and its parent are still the
    /// processes that were found.
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

/// A step of a sweep over all descendants: first stop them until none is left that could start another, then kill them.
///
/// If descendants were killed one by one, processes that fork without end would replace the dead ones faster than they
/// are found. A stopped process keeps its place under the process limit, and so does a dead one until it is reaped.
enum SweepStep: Hashable {
    case done
    case stop([Descendant])
    case kill([Descendant])

    /// Chooses the next step. `isUrgent` says whether stopping has been tried so often that the processes may be waking
    /// each other.
    init(for descendants: [Descendant], isUrgent: Bool) {
        let moving = descendants.filter { !$0.isStill }
        self =
            if descendants.isEmpty { .done } else if moving.isEmpty || isUrgent { .kill(descendants) } else {
                .stop(moving)
            }
    }
}
