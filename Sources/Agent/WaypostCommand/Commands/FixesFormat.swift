import GNSS

/// How `waypost fixes` writes a fix.
enum FixesFormat: String, CaseIterable, Sendable {
    case jsonl, csv

    /// What stands before the first fix.
    func appendHeader(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: break
        case .csv: CSVFormat.appendHeader(to: &bytes)
        }
    }

    func append(_ fix: Fix, to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: JSONLinesFormat.append(fix, to: &bytes)
        case .csv: CSVFormat.append(fix, to: &bytes)
        }
    }
}
