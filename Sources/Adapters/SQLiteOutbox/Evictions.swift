/// What was given up, by reason.
package struct Evictions: Sendable, Hashable {
    private var tallies = [UpdateTally](repeating: UpdateTally(), count: EvictionReason.allCases.count)

    package init() {}

    package subscript(reason: EvictionReason) -> UpdateTally {
        get { tallies[Self.index(of: reason)] }
        set { tallies[Self.index(of: reason)] = newValue }
    }

    /// The word `evicted` of the ledger.
    package var count: Int64 { tallies.reduce(0) { $0 + $1.count } }

    func write(into writer: inout RecordWriter) {
        for tally in tallies { tally.write(into: &writer) }
    }

    init?(from reader: inout RecordReader) {
        for index in tallies.indices {
            guard let tally = UpdateTally(from: &reader) else { return nil }
            tallies[index] = tally
        }
    }

    private static func index(of reason: EvictionReason) -> Int {
        switch reason {
        case .thinned: 0
        case .oldest: 1
        case .age: 2
        case .damage: 3
        case .discarded: 4
        }
    }
}
