/// The changes to a file that a power cut may undo.
struct FileHistory: Sendable {
    private enum Durability: Sendable {
        /// Written but not synchronised: each sector is kept or lost.
        case pending
        /// A sync failed: the kernel considers the pages clean, and no later sync writes them.
        case abandoned
        case synchronized
    }

    private enum Operation: Sendable {
        /// `old` is the previous content, up to the file's previous end.
        case write(offset: Int, new: [UInt8], old: [UInt8])
        case truncate(to: Int, tail: [UInt8])
    }

    private struct Change: Sendable {
        let operation: Operation
        let sizeBefore: Int
        var durability = Durability.pending
    }

    static let sectorBytes = 512

    /// The file's size in bytes, as programs see it.
    private(set) var size: Int
    private var changes: [Change] = []

    init(size: Int) { self.size = size }

    /// Whether a power cut would change nothing.
    var isDurable: Bool { changes.isEmpty }

    mutating func write(_ new: [UInt8], at offset: Int, over old: [UInt8]) {
        changes.append(Change(operation: .write(offset: offset, new: new, old: old), sizeBefore: size))
        size = max(size, offset + new.count)
    }

    mutating func truncate(to count: Int, tail: [UInt8]) {
        changes.append(Change(operation: .truncate(to: count, tail: tail), sizeBefore: size))
        size = count
    }

    mutating func synchronize() {
        guard changes.contains(where: { $0.durability == .abandoned }) else { return changes.removeAll() }
        setDurability(.synchronized)
    }

    mutating func abandon() { setDurability(.abandoned) }

    private mutating func setDurability(_ durability: Durability) {
        for index in changes.indices where changes[index].durability == .pending {
            changes[index].durability = durability
        }
    }

    /// Returns the disk's content after a power cut, if programs saw `contents` before.
    ///
    /// Each sector of each write, and each change of size, is kept with the probability `share`. One sector of the last
    /// write is torn.
    func contentsAfterPowerCut(
        from contents: [UInt8], keeping share: Double, using chance: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var bytes = contents
        for change in changes.reversed() { Self.undo(change, in: &bytes) }
        for (index, change) in changes.enumerated() {
            if change.durability == .synchronized {
                Self.redo(change, in: &bytes)
            } else {
                let isLast = index == changes.count - 1
                Self.redoPartly(change, in: &bytes, isTorn: isLast, keeping: share, using: &chance)
            }
        }
        return bytes
    }

    private static func undo(_ change: Change, in bytes: inout [UInt8]) {
        switch change.operation {
        case .write(let offset, _, let old):
            bytes.resize(to: change.sizeBefore)
            bytes.replaceSubrange(offset..<offset + old.count, with: old)
        case .truncate(_, let tail): bytes += tail
        }
    }

    private static func redo(_ change: Change, in bytes: inout [UInt8]) {
        switch change.operation {
        case .write(let offset, let new, _):
            bytes.resize(to: max(bytes.count, offset + new.count))
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        case .truncate(let count, _): bytes.resize(to: min(bytes.count, count))
        }
    }

    private static func redoPartly(
        _ change: Change, in bytes: inout [UInt8], isTorn: Bool, keeping share: Double,
        using chance: inout some RandomNumberGenerator
    ) {
        func isKept() -> Bool { Double.random(in: 0..<1, using: &chance) < share }
        guard case .write(let offset, let new, _) = change.operation else {
            if isKept() { redo(change, in: &bytes) }
            return
        }
        let end = offset + new.count
        if end > bytes.count, isKept() { bytes.resize(to: end) }
        let sectors = offset / sectorBytes...max(offset, end - 1) / sectorBytes
        let torn = isTorn ? sectors.randomElement(using: &chance) : nil
        for sector in sectors {
            let lower = max(offset, sector * sectorBytes)
            var upper = min(end, (sector + 1) * sectorBytes, bytes.count)
            guard lower < upper else { continue }
            if sector == torn { upper = Int.random(in: lower...upper, using: &chance) } else if !isKept() { continue }
            bytes.replaceSubrange(lower..<upper, with: new[lower - offset..<upper - offset])
        }
    }
}

extension [UInt8] {
    /// Truncates the bytes, or appends zeros.
    fileprivate mutating func resize(to count: Int) {
        if count < self.count { removeLast(self.count - count) }
        if count > self.count { append(contentsOf: repeatElement(0, count: count - self.count)) }
    }
}
