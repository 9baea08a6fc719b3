/// What became of a `QuarantineRequest`.
package enum QuarantineAnswer: Sendable, Hashable {
    /// So many are pending again, or given up. `notKept` counts those that could not be requeued because only the last
    /// 256 are kept: they stay in quarantine.
    case done(count: Int64, notKept: Int64)
    /// Nothing was changed: these are not in quarantine.
    case unknown([Int64])
    /// Nothing was changed: whoever owns the store does not know such a request.
    case notUnderstood

    var bytes: [UInt8] {
        var writer = RecordWriter()
        switch self {
        case .notUnderstood: writer.write(byte: 0)
        case .done(let count, let notKept):
            writer.write(byte: 1)
            writer.write(count)
            writer.write(notKept)
        case .unknown(let sequences):
            writer.write(byte: 2)
            for sequence in sequences { writer.write(sequence) }
        }
        return writer.bytes
    }

    init(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes[...])
        self = .notUnderstood
        switch reader.byte() {
        case 1:
            if let count = reader.signed(), let notKept = reader.signed() {
                self = .done(count: count, notKept: notKept)
            }
        case 2:
            var sequences: [Int64] = []
            while let sequence = reader.signed() { sequences.append(sequence) }
            self = .unknown(sequences)
        default: break
        }
    }
}
