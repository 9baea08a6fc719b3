import Glibc
import LinuxPlatform

/// Operations on the real files, unnoticed by programs. An error here is a fault of the test, not of the disk.
extension LyingDisk {
    static func contents(of path: String) -> [UInt8] {
        mustSucceed { () throws(SystemError) in
            try FileSystem.read(Int(try FileSystem.fileSize(at: path)), at: 0, of: path)
        }
    }

    static func replace(_ path: String, with bytes: [UInt8]) {
        mustSucceed { () throws(SystemError) in
            let descriptor = try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
            try descriptor.writeAll(bytes.span)
        }
    }

    static func remove(_ path: String) {
        mustSucceed { () throws(SystemError) in try FileSystem.removeFile(at: path) }
    }

    static func rename(_ source: String, to destination: String) {
        mustSucceed { () throws(SystemError) in try FileSystem.rename(source, to: destination) }
    }

    private static func mustSucceed<Result>(_ body: () throws(SystemError) -> Result) -> Result {
        do throws(SystemError) { return try body() } catch { preconditionFailure("\(error)") }
    }
}
