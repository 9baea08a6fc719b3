import CLinux
import Glibc

/// The program of this process, to be executed again in its place: with the same process id, arguments, standard
/// descriptors and name, and the locks of `LockHandover`.
///
/// What it must know is handed over in a file in memory, so that it is on no disk, in no argument and in no variable.
package struct NextImage: Sendable {
    /// Names the process and its descriptors: `PID:FILE,LOCK,LOCK`. Numbers of another process mean nothing.
    private static let variable = "WAYPOST_HANDOVER"
    /// The maximum size of what is handed over, in bytes.
    private static let limit = 8 << 20

    private let message: [UInt8]

    /// `message` is what the next image is given.
    package init(message: [UInt8]) { self.message = message }

    /// Executes the program. Returns only if that fails, with the reason.
    ///
    /// It is for the main thread alone: all other threads end.
    func execute() -> SystemError {
        guard let path = ProcessStart.executable else {
            return SystemError(call: "read /proc/self/exe", number: ENOENT)
        }
        do throws(SystemError) {
            let file = OwnedDescriptor(
                owning: try valueOrSystemError("memfd_create") { unsafe clinux_memory_file("waypost-handover") })
            try file.writeAll(message.span)
            return execute(path, handing: file)
        } catch { return error }
    }

    private func execute(_ path: String, handing file: borrowing OwnedDescriptor) -> SystemError {
        let descriptors = [file.raw] + LockHandover.descriptors
        let numbers = descriptors.map(String.init).joined(separator: ",")
        var variables = ProcessEnvironment.variables
        variables[Self.variable] = "\(getpid()):\(numbers)"
        let words = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        // Libraries open some that would be inherited, such as libcurl's socket pairs.
        for number in FileSystem.visibleNames(inFolder: "/proc/self/fd").compactMap(CInt.init) {
            let isInherited = number <= STDERR_FILENO || descriptors.contains(number)
            _ = fcntl(number, F_SETFD, isInherited ? 0 : FD_CLOEXEC)
        }
        _ = unsafe execve(path, CommandLine.unsafeArgv, words)
        return SystemError(call: "execute \(path)", number: errno)
    }

    /// The message of the image that executed this one; `nil` if none did.
    package static var received: [UInt8]? { inbox.withLock { $0 } }
    private static let inbox = Locked<[UInt8]?>(nil)

    /// Takes over what the previous image left: the message and the locks. For `ProcessStart`, while there is one
    /// thread; programs that this process starts are not given the variable.
    static func receive() {
        guard let text = ProcessEnvironment.variables[variable] else { return }
        unsafe unsetenv(variable)
        guard let numbers = descriptors(namedBy: text, in: getpid()), let first = numbers.first,
            first > STDERR_FILENO, let status = FileStatus(ofRaw: first),
            // A file in memory has no name.
            status.kind == .file, status.owner == geteuid(), status.names == 0, status.bytes <= limit,
            lseek(first, 0, SEEK_SET) == 0
        else { return }
        LockHandover.inherit(Array(numbers.dropFirst()))
        let file = OwnedDescriptor(owning: first)
        if let bytes = try? file.contents(upTo: limit) { inbox.withLock { $0 = bytes } }
    }

    /// The numbers in the value of the variable; `nil` if it is another process's, or nothing that was written here.
    static func descriptors(namedBy text: String, in process: pid_t) -> [CInt]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, pid_t(parts[0]) == process else { return nil }
        let numbers = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { CInt($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}
