import Foundation
import WaypostTestSupport

/// The files of the checkout.
enum Checkout {
    static let root = Fixtures.checkout

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every Swift file below `folder`, in the order of paths; none where there is no such folder.
    static func sources(below folder: String) throws -> [SourceFile] {
        let place = root.appending(path: folder).path
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
            .filter { $0.hasSuffix(".swift") }
            .map { SourceFile(path: "\(folder)/\($0)", text: try text("\(folder)/\($0)")) }
    }

    /// The names of the folders directly in `folder`.
    static func folders(in folder: String) throws -> [String] {
        let place = root.appending(path: folder)
        return try FileManager.default.contentsOfDirectory(atPath: place.path).sorted().filter {
            var isFolder: ObjCBool = false
            // The call answers through a pointer.
            return unsafe FileManager.default.fileExists(
                atPath: place.appending(path: $0).path, isDirectory: &isFolder) && isFolder.boolValue
        }
    }
}
