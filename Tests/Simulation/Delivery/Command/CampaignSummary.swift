import Glibc
import Reporting

struct CampaignSummary: CustomStringConvertible {
    let hours: Double
    private let worldCount: Int
    private let elapsed: Duration
    private let markCounts: [Int]
    private let faultCounts: [Int]
    private let hash: UInt64
    private let ledger: Ledger

    init(_ reports: [WorldReport], elapsed: Duration) {
        hours = reports.reduce(0) { $0 + $1.hours }
        worldCount = reports.count
        self.elapsed = elapsed
        markCounts = Self.sum(reports.map(\.markCounts), count: Trace.Mark.allCases.count)
        faultCounts = Self.sum(reports.map(\.faultCounts), count: FaultKind.allCases.count)
        ledger = reports.reduce(Ledger()) { $0 + $1.ledger }
        hash = reports.reduce(0) { ($0 ^ $1.hash) &* 0x100_0000_01B3 }
    }

    /// The kinds of fault that never occurred, so that the laws about them were not tested.
    var missingFaults: Set<FaultKind> { Set(FaultKind.allCases.filter { faultCounts[$0.rawValue] == 0 }) }

    var description: String {
        func count(_ mark: Trace.Mark) -> Int { markCounts[mark.rawValue] }
        let rate = hours / max(elapsed.inSeconds, 0.001)
        return """
            \(decimal(hours)) vehicle hours in \(worldCount) worlds took \(decimal(elapsed.inSeconds)) s: \
            \(decimal(rate)) h/s, \(Int(rate * 3600)) times real time; \
            \(decimal(hours / Self.processorSeconds)) hours per second of processor time
            \(count(.fix)) fixes, \(count(.accepted)) accepted, \(count(.request)) requests, \(count(.token)) tokens, \
            \(count(.start)) starts, \(count(.cut)) power cuts, \(count(.kill)) kills, \(count(.stop)) stops, \
            \(count(.notStored)) not stored; at the end \(ledger.accepted) accepted = \(ledger.delivered) delivered + \
            \(ledger.pending) pending + \(ledger.evicted) evicted + \(ledger.quarantined) quarantined
            faults: \(FaultKind.allCases.map { "\($0.name) \(faultCounts[$0.rawValue])" }.joined(separator: ", "))
            trace hash \(String(hash, radix: 16))
            """
    }

    private static var processorSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    private static func sum(_ rows: [[Int]], count: Int) -> [Int] {
        rows.reduce(into: [Int](repeating: 0, count: count)) { sum, row in
            for (index, value) in row.enumerated() { sum[index] += value }
        }
    }
}
