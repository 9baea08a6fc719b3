import ReportedText
import StrictJSON
import TimeAndRandomness

/// A text file that describes a vehicle's service to a help desk, without secrets or coordinates.
///
/// A part may be unavailable, for example because the service doesn't respond. The bundle is made anyway, and lists
/// each missing part with the reason.
package struct SupportBundle: Sendable {
    package struct Part: Sendable, Hashable {
        package let name: String
        /// A description of the contents.
        package let description: String
        package let contents: [UInt8]
        /// The reason why the contents are missing; `nil` if they are available.
        package let missingReason: String?
    }

    package let parts: [Part]
    /// The vehicle's name; `nil` if neither the configuration nor the service provides it.
    private let vehicle: String?
    private let time: UTCTime

    private static let heading = "Waypost support bundle"

    init(_ parts: [Part], of vehicle: String?, at time: UTCTime) {
        self.parts = parts
        self.vehicle = vehicle
        self.time = time
    }

    /// The bundle's file name, which contains the vehicle's id and the time.
    package var fileName: String {
        let id = vehicle?.split(separator: "/").last ?? "unknown"
        let plain = id.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let short = plain.prefix(60)
        let second = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
        return "waypost-\(String(short))-\(second)Z.txt"
    }

    /// Returns whether a file that begins with `bytes` is a support bundle.
    package static func isBundle(startingWith bytes: [UInt8]) -> Bool { bytes.starts(with: heading.utf8) }

    /// The heading and a list of all parts, with the reason why a part is missing.
    package var summary: String {
        let width = parts.map(\.name.count).max() ?? 0
        let lines = parts.map { part in
            let name = part.name + String(repeating: " ", count: width - part.name.count)
            let contents = "\(part.description), \(part.contents.count) bytes"
            return "\(name)  \(part.missingReason.map { "missing: \($0)" } ?? contents)"
        }
        return """
            \(Self.heading) of \(vehicle ?? "an unknown vehicle"), made by waypost \(Release.version) at \(time).
            It contains no secrets and no coordinates.

            \(lines.joined(separator: "\n"))

            """
    }

    /// The contents of the bundle's file.
    package var contents: [UInt8] {
        parts.filter { $0.missingReason == nil }.reduce(into: Array(summary.utf8)) { text, part in
            text += "\n======== \(part.name): \(part.description)\n".utf8
            text += part.contents
            if part.contents.last != UInt8(ascii: "\n") { text.append(UInt8(ascii: "\n")) }
        }
    }
}
