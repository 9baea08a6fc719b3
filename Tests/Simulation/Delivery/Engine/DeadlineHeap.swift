/// A heap of deadlines, ordered by time; equal deadlines are in order of insertion.
struct DeadlineHeap {
    struct Entry {
        let deadline: VirtualClock.Instant
        let sleeper: Int

        func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? sleeper < other.sleeper : deadline < other.deadline
        }
    }

    private var entries: [Entry] = []

    var first: Entry? { entries.first }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].isBefore(entries[(child - 1) / 2]) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].isBefore(entries[least]) { least = child }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
