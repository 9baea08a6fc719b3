import Glibc
import LinuxPlatform
import VehicleAuthorization

/// Files that hold a secret.
enum SecretFile {
    /// What was read, and when the file was written, in seconds since 1970.
    struct Content {
        let bytes: [UInt8]
        let modifiedAt: Double
    }

    /// Reads a file that only its owner and group may read.
    ///
    /// Blocks; not for the shared pool.
    /// - Throws: `.misconfigured` with path and remedy.
    static func read(_ path: String, limit: Int) throws(AuthorizationError) -> Content {
        do {
            let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            var status = stat()
            try valueOrSystemError("read \(path)") { unsafe fstat(descriptor.raw, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw AuthorizationError(.misconfigured, "\(path) is not a file; name the file that holds the secret")
            }
            guard status.st_mode & (S_IROTH | S_IWOTH) == 0 else {
                throw AuthorizationError(
                    .misconfigured, "\(path) holds a secret and is open to every user; run chmod o= \(path)")
            }
            let bytes = try contents(of: descriptor, limit: limit)
            guard bytes.count <= limit else {
                throw AuthorizationError(
                    .misconfigured, "\(path) is larger than \(limit) bytes; name the file that holds the secret")
            }
            return Content(
                bytes: bytes,
                modifiedAt: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1_000_000_000)
        } catch let error as AuthorizationError {
            throw error
        } catch let error as SystemError {
            throw AuthorizationError(.misconfigured, "\(path) cannot be read: \(error.reason)")
        } catch {
            throw AuthorizationError(.misconfigured, "\(path) cannot be read")
        }
    }

    private static func contents(of descriptor: borrowing OwnedDescriptor, limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count <= limit {
            var span = buffer.mutableSpan
            let count = try descriptor.read(into: &span)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
