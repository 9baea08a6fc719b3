import CLinux
import Glibc

/// The next execution of this program in the same process. It keeps the process id, the arguments, the standard
/// descriptors, the name, and the locks of `LockHandover`.
///
/// The message for the next image is passed in a file in memory. So it appears on no disk, in no argument and in no
/// environment variable.
package struct NextImage: Sendable {
    /// The environment variable that lists the process's id and the inherited descriptors: `PID:FILE,LOCK,LOCK`. The
    /// variable is ignored if the id belongs to another process.
    private static let variable = "WAYPOST_HANDOVER"
    /// The maximum size of the message, in bytes.
    private static let limit = 8 << 20

    private let message: [UInt8]

    package init(message: [UInt8]) { self.message = message }

    /// Executes the program, and returns only if that fails, with the reason. Call this function on the main thread,
    /// because all other threads end.
    func execute() -> SystemError {
        guard let path = ProcessStart.executable else {
            return SystemError(call: "read /proc/self/exe", number: ENOENT)
        }
        do throws(SystemError) {
            let file = OwnedDescriptor(
                owning: try valueOrSystemError("memfd_create") { unsafe clinux_memory_file("waypost-handover") })
            try file.writeAll(message.span)
            return execute(path, passing: file)
        } catch { return error }
    }

    private func execute(_ path: String, passing file: borrowing OwnedDescriptor) -> SystemError {
        let descriptors = [file.raw] + LockHandover.descriptors
        let numbers = descriptors.map(String.init).joined(separator: ",")
        var variables = ProcessEnvironment.variables
        variables[Self.variable] = "\(getpid()):\(numbers)"
        let environment = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        // Descriptors that libraries have opened, such as libcurl's socket pairs, must not be inherited.
        for number in FileSystem.visibleNames(inDirectory: "/proc/self/fd").compactMap(CInt.init) {
            let isInherited = number <= STDERR_FILENO || descriptors.contains(number)
            _ = fcntl(number, F_SETFD, isInherited ? 0 : FD_CLOEXEC)
        }
        _ = unsafe execve(path, CommandLine.unsafeArgv, environment)
        return SystemError(call: "execute \(path)", number: errno)
    }

    /// The message from the previous image; `nil` if there was no previous image.
    package static var receivedMessage: [UInt8]? { inbox.withLock { $0 } }
    private static let inbox = Locked<[UInt8]?>(nil)

    /// Receives the message and the locks of the previous image. `ProcessStart` calls this while there is only one
    /// thread. Removes the variable, so that no program inherits it from this process.
    static func receive() {
        guard let text = ProcessEnvironment.variables[variable] else { return }
        unsafe unsetenv(variable)
        guard let numbers = descriptors(namedBy: text, in: getpid()), let first = numbers.first,
            first > STDERR_FILENO, let status = FileStatus(ofRaw: first),
            // A file in memory has no name, so its number of hard links is zero.
            status.kind == .file, status.owner == geteuid(), status.linkCount == 0, status.bytes <= limit,
            lseek(first, 0, SEEK_SET) == 0
        else { return }
        LockHandover.inherit(Array(numbers.dropFirst()))
        let file = OwnedDescriptor(owning: first)
        if let bytes = try? file.contents(upTo: limit) { inbox.withLock { $0 = bytes } }
    }

    /// Returns the descriptors in the variable's value; `nil` if the value is malformed or names another process.
    static func descriptors(namedBy text: String, in process: pid_t) -> [CInt]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, pid_t(parts[0]) == process else { return nil }
        let numbers = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { CInt($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}
