/// How far each step has come through the backlog; part of the ledger's row.
struct ThinningProgress: Sendable, Hashable {
    /// By step: rows up to this sequence have been thinned by it. It is the last row of a block, and stays until the
    /// next block begins with it.
    private var fronts = [Int64](repeating: 0, count: ThinningStep.allCases.count)

    func front(of step: ThinningStep) -> Int64 { fronts[step.rawValue] }

    mutating func advance(_ step: ThinningStep, to sequence: Int64) { fronts[step.rawValue] = sequence }

    /// The sequences that `step` may look at: a step follows the one before, so that their bounds add up.
    func range(of step: ThinningStep) -> ClosedRange<Int64> {
        let end = step.previous.map(front) ?? .max
        return min(front(of: step), end)...end
    }

    func write(into writer: inout RecordWriter) {
        for front in fronts { writer.write(front) }
    }

    init() {}

    init?(from reader: inout RecordReader) {
        for index in fronts.indices {
            guard let front = reader.count() else { return nil }
            fronts[index] = front
        }
    }
}
