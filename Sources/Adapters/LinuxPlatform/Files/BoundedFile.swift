import Glibc

/// A reader of small files whose paths a user has chosen. It rejects large files, and anything that isn't a regular
/// file, before they can block the reader.
package enum BoundedFile {
    package enum Refusal: Error, Sendable, Hashable {
        case system(SystemError)
        case notAFile(FileStatus.Kind)
        case tooLarge(limit: Int)
    }

    /// Returns the contents of a regular file of at most `limit` bytes.
    package static func contents(of path: String, limit: Int) throws(Refusal) -> [UInt8] {
        let descriptor = try open(path, limit: limit)
        let bytes = try convertingErrors { () throws(SystemError) in try descriptor.contents(upTo: limit) }
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }  // the file has grown since the check
        return bytes
    }

    private static func open(_ path: String, limit: Int) throws(Refusal) -> OwnedDescriptor {
        // Some devices wake up when they are opened, so the file is checked first. It is checked again once it is open,
        // because another file may have replaced it.
        try check(convertingErrors { () throws(SystemError) in try FileStatus(followingLinksAt: path) }, limit: limit)
        let descriptor = try convertingErrors { () throws(SystemError) in
            try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        }
        try check(convertingErrors { () throws(SystemError) in try FileStatus(of: descriptor) }, limit: limit)
        return descriptor
    }

    private static func convertingErrors<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(Refusal) -> Value {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }

    private static func check(_ status: FileStatus, limit: Int) throws(Refusal) {
        guard status.kind == .file else { throw .notAFile(status.kind) }
        guard status.bytes <= limit else { throw .tooLarge(limit: limit) }
    }
}

extension BoundedFile.Refusal: CustomStringConvertible {
    /// The refusal as a predicate for the path, such as `is larger than 64 KiB`.
    package var description: String {
        switch self {
        case .system(let error): "cannot be read: \(error.reason)"
        case .notAFile(let kind): "is \(kind.rawValue), not a file"
        case .tooLarge(let limit):
            "is larger than \(limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB")"
        }
    }
}
