import GNSS

/// How `waypost fixes` writes fixes.
enum FixesFormat: String, CaseIterable, Sendable {
    case jsonl, csv, gpx, geojson

    /// What stands before the first fix.
    func appendHeader(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: break
        case .csv: CSVFormat.appendHeader(to: &bytes)
        case .gpx: GPXFormat.appendHeader(to: &bytes)
        case .geojson: GeoJSONFormat.appendHeader(to: &bytes)
        }
    }

    func append(_ fix: Fix, isFirst: Bool, to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: JSONLinesFormat.append(fix, to: &bytes)
        case .csv: CSVFormat.append(fix, to: &bytes)
        case .gpx: GPXFormat.append(fix, to: &bytes)
        case .geojson: GeoJSONFormat.append(fix, isFirst: isFirst, to: &bytes)
        }
    }

    /// What stands after the last fix.
    func appendFooter(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl, .csv: break
        case .gpx: GPXFormat.appendFooter(to: &bytes)
        case .geojson: GeoJSONFormat.appendFooter(to: &bytes)
        }
    }
}
