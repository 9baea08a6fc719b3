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

    /// Whether the way from fix to fix matters to it.
    var drawsTrack: Bool { self == .gpx }

    /// Appends a fix; `isFirst` of all, `isBroken` when the track does not go on to it from the one before.
    func append(_ fix: Fix, isFirst: Bool, isBroken: Bool, to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: JSONLinesFormat.append(fix, to: &bytes)
        case .csv: CSVFormat.append(fix, to: &bytes)
        case .gpx:
            if isBroken { GPXFormat.appendBreak(to: &bytes) }
            GPXFormat.append(fix, to: &bytes)
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
