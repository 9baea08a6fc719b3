package import FoundationEssentials

/// Where tests find recorded and generated input.
package enum Fixtures {
    /// The checkout, found from this file's own place.
    package static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file under `fixtures/`, as `nmea/town.nmea`.
    package static func url(_ path: String) -> URL { checkout.appending(path: "fixtures/\(path)") }

    /// The recorded receivers that lie beside the checkout on some machines; `nil` where they do not.
    ///
    /// `WAYPOST_RECORDED_LOGS` names another place.
    package static var recordedReceivers: URL? {
        let folder =
            ProcessInfo.processInfo.environment["WAYPOST_RECORDED_LOGS"].map { URL(filePath: $0) }
            ?? checkout.deletingLastPathComponent().appending(path: "shared/data/nmea")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }
}
