import Foundation
import WaypostTestSupport

enum Checkout {
    static let root = Fixtures.checkout

    static func contents(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns every Swift file below `directory`, sorted by path; empty if the directory doesn't exist.
    static func sources(below directory: String) throws -> [SourceFile] {
        let place = root.appending(path: directory).path
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
            .filter { $0.hasSuffix(".swift") }
            .map { SourceFile(path: "\(directory)/\($0)", text: try contents(of: "\(directory)/\($0)")) }
    }

    static func directories(in directory: String) throws -> [String] {
        let place = root.appending(path: directory)
        return try FileManager.default.contentsOfDirectory(atPath: place.path).sorted().filter {
            var isDirectory: ObjCBool = false
            // `fileExists` returns through a pointer whether the path is a directory.
            return unsafe FileManager.default.fileExists(
                atPath: place.appending(path: $0).path, isDirectory: &isDirectory) && isDirectory.boolValue
        }
    }
}
