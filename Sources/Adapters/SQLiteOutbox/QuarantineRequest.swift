/// What an operator wants done with quarantined updates.
package struct QuarantineRequest: Sendable, Hashable {
    package enum Action: UInt8, Sendable, Hashable {
        /// Pending again, to be delivered once more.
        case requeue = 1
        /// Given up, and counted as evicted.
        case discard = 2
    }

    package let action: Action
    /// Which ones; `nil` for all there are.
    package let sequences: Set<Int64>?

    package init(_ action: Action, _ sequences: Set<Int64>?) { (self.action, self.sequences) = (action, sequences) }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        writer.write(byte: action.rawValue)
        writer.write(Int64(sequences?.count ?? -1))
        for sequence in (sequences ?? []).sorted() { writer.write(sequence) }
        return writer.bytes
    }

    /// `nil` when the bytes are not what was written, or a newer release's.
    init?(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes[...])
        guard let action = reader.byte().flatMap(Action.init), let count = reader.signed() else { return nil }
        var sequences: Set<Int64> = []
        for _ in 0..<max(0, min(count, Int64(bytes.count))) {
            guard let sequence = reader.signed() else { return nil }
            sequences.insert(sequence)
        }
        self.init(action, count < 0 ? nil : sequences)
    }
}
