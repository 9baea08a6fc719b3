import GNSS

/// A log as a page names it.
struct MapLog: Sendable {
    /// As the operator gave it.
    let name: String
    let statistics: DecoderStatistics

    /// Without the folders.
    var shortName: String { name.split(separator: "/").last.map(String.init) ?? name }
}
