package import FoundationEssentials
package import GNSS

/// The locations of recorded and generated input for tests.
package enum Fixtures {
    /// The directory of the checkout, derived from the path of this file.
    package static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the URL of a file under `fixtures/`, such as `nmea/town.nmea`.
    package static func url(_ path: String) -> URL { checkout.appending(path: "fixtures/\(path)") }

    /// The directory of recorded receivers, which some machines have next to the checkout; `nil` on others.
    ///
    /// `WAYPOST_RECORDED_LOGS` names another directory.
    package static var recordedReceivers: URL? {
        let directory =
            ProcessInfo.processInfo.environment["WAYPOST_RECORDED_LOGS"].map { URL(filePath: $0) }
            ?? checkout.deletingLastPathComponent().appending(path: "shared/data/nmea")
        return FileManager.default.fileExists(atPath: directory.path) ? directory : nil
    }

    /// The directory of small inputs from public bug reports, which some machines have next to the checkout; `nil` on
    /// others.
    package static var fieldCases: URL? {
        let directory = checkout.deletingLastPathComponent().appending(path: "shared/data/field")
        return FileManager.default.fileExists(atPath: directory.path) ? directory : nil
    }

    /// Returns the fixes of a generated drive, such as `town`.
    package static func fixes(of drive: String) throws -> [Fix] { try fixes(in: url("nmea/\(drive).nmea")) }

    /// Returns the fixes of a log of NMEA sentences.
    package static func fixes(in log: URL) throws -> [Fix] { fixes(in: [UInt8](try Data(contentsOf: log))) }

    package static func fixes(in sentences: [UInt8]) -> [Fix] {
        var (decoder, fixes) = (NMEADecoder(), [Fix]())
        decoder.decode(sentences.span, receivedAt: .zero) { fixes.append($0) }
        decoder.finish { fixes.append($0) }
        return fixes
    }
}
