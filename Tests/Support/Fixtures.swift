package import FoundationEssentials
package import GNSS

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

    /// Small inputs rebuilt from public bug reports, which lie beside the checkout on some machines; `nil` on others.
    package static var fieldCases: URL? {
        let folder = checkout.deletingLastPathComponent().appending(path: "shared/data/field")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }

    /// The fixes of a generated drive, as `town`.
    package static func fixes(of drive: String) throws -> [Fix] { try fixes(in: url("nmea/\(drive).nmea")) }

    /// The fixes of a log of NMEA sentences.
    package static func fixes(in log: URL) throws -> [Fix] { fixes(in: [UInt8](try Data(contentsOf: log))) }

    package static func fixes(in sentences: [UInt8]) -> [Fix] {
        var (decoder, fixes) = (NMEADecoder(), [Fix]())
        decoder.decode(sentences.span, receivedAt: .zero) { fixes.append($0) }
        decoder.finish { fixes.append($0) }
        return fixes
    }
}
