import CLinux
import Glibc

/// A process that descends from this one, as `/proc` shows it.
struct Descendant: Hashable {
    let processID: pid_t
    let parent: pid_t
    /// The letter of proc(5), as `S` for one that sleeps; `nil` where only its number is known.
    var state: Character?
    /// In ticks since the start of the system; with the number it identifies a process: numbers are used again.
    var startTime: UInt64?
}

extension Descendant {
    /// From a line of `/proc/PID/stat`; the program's name in it may hold anything.
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

    /// What process `processID` is now; `nil` when there is none, or none that is shown.
    init?(reading processID: pid_t) {
        guard let bytes = try? FileSystem.read(512, at: 0, of: "/proc/\(processID)/stat") else { return nil }
        self.init(status: String(decoding: bytes, as: UTF8.self))
    }

    /// Whether it starts no process: it is stopped, traced or dead, or waits in the kernel, where a signal that was
    /// sent comes before a fork. Where the state is not shown it counts as still.
    var isStill: Bool { state.map { "TtZXxD".contains($0) } ?? true }

    /// Those of `processes` that descend from process `root`, each behind its parent.
    static func all(of root: pid_t, among processes: some Sequence<Descendant>) -> [Descendant] {
        let children = Dictionary(grouping: processes, by: \.parent)
        var found = children[root] ?? []
        var next = 0
        // A list that was read while it changed could hold a ring, but none that begins at the root.
        var seen = Set(found.map(\.processID)).union([root])
        while next < found.count {
            found += (children[found[next].processID] ?? []).filter { seen.insert($0.processID).inserted }
            next += 1
        }
        return found
    }

    /// All of this process, also those that have ended and are not collected.
    static var all: [Descendant] {
        let own = getpid()
        let shown = FileSystem.visibleNames(inFolder: "/proc").compactMap(pid_t.init).compactMap(Self.init(reading:))
        let known = Set(shown.map(\.processID))
        // Mounted with hidepid, /proc does not show what belongs to others; these lists do, where the kernel has them.
        let listed = FileSystem.visibleNames(inFolder: "/proc/self/task").flatMap { thread in
            let bytes = (try? FileSystem.read(1 << 16, at: 0, of: "/proc/self/task/\(thread)/children")) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
        }
        let hidden = Set(listed).subtracting(known).map { Descendant(processID: $0, parent: own) }
        return all(of: own, among: shown + hidden)
    }

    /// Sends `number` to it and to no other process that has its number since; whether it was not allowed.
    ///
    /// A child's number is its own until it is collected, which is the caller's to forbid. What is further away may
    /// have been collected by its parent: it is signalled through a descriptor of a process that was still the one that
    /// was found, of a parent that was still the one that was found.
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

/// What a sweep over all descendants does: first it stops them, until none is left that could start another; then it
/// kills them.
///
/// Killed one by one, processes that fork without end fill the places of the dead faster than they are found. A stopped
/// one keeps its place under the limit of processes, and so do the dead, who are not collected until all are still.
enum SweepStep: Hashable {
    case done
    case stop([Descendant])
    case kill([Descendant])

    /// `isUrgent` when stopping has been tried often: they may wake each other.
    init(for descendants: [Descendant], isUrgent: Bool) {
        let moving = descendants.filter { !$0.isStill }
        self =
            if descendants.isEmpty { .done } else if moving.isEmpty || isUrgent { .kill(descendants) } else {
                .stop(moving)
            }
    }
}
