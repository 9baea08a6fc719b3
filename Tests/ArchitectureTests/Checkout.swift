import Foundation
import WaypostTestSupport

/// The files of the checkout.
enum Checkout {
    static let root = Fixtures.checkout

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every Swift file below `directory`, in the order of paths; none where there is no such directory.
    static func sources(below directory: String) throws -> [SourceFile] {
        let place = root.appending(path: directory).path
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
            .filter { $0.hasSuffix(".swift") }
            .map { SourceFile(path: "\(directory)/\($0)", text: try text("\(directory)/\($0)")) }
    }

    /// The names of the directories directly in `directory`.
    static func directories(in directory: String) throws -> [String] {
        let place = root.appending(path: directory)
        return try FileManager.default.contentsOfDirectory(atPath: place.path).sorted().filter {
            var isDirectory: ObjCBool = false
            // The call answers through a pointer.
            return unsafe FileManager.default.fileExists(
                atPath: place.appending(path: $0).path, isDirectory: &isDirectory) && isDirectory.boolValue
        }
    }
}
