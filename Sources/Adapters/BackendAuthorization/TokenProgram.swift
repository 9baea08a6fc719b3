import Glibc
import LinuxPlatform
import ReportedText
package import VehicleAuthorization

/// A diagnosis of why a token command's program can't be started. It is more precise than the system's message ("No
/// such file or directory", "Exec format error").
package enum TokenProgram {
    /// The kind of a program file, recognised by its first line as the kernel does.
    enum FileKind: Sendable, Hashable {
        /// An ELF executable.
        case machineCode
        case script(interpreter: String, argument: String?)
        /// A script with Windows line endings. The kernel takes the carriage return for a part of the interpreter's
        /// name.
        case carriageReturn
        case byteOrderMark
        case noInterpreter
        case empty

        init(_ bytes: [UInt8]) {
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            if bytes.isEmpty {
                self = .empty
            } else if bytes.starts(with: [0x7F] + Array("ELF".utf8)) {
                self = .machineCode
            } else if bytes.starts(with: [0xEF, 0xBB, 0xBF] + Array("#!".utf8)) {
                self = .byteOrderMark
            } else if !bytes.starts(with: Array("#!".utf8)) {
                self = .noInterpreter
            } else if line.last == UInt8(ascii: "\r") {
                self = .carriageReturn
            } else {
                let words = line.dropFirst(2).split(maxSplits: 1) { $0 == 0x20 || $0 == 0x09 }
                    .map { String(decoding: $0, as: UTF8.self) }
                // The kernel skips blanks between `#!` and the interpreter.
                let all = words.flatMap { $0.split(separator: " ").map(String.init) }
                guard let interpreter = all.first else {
                    self = .noInterpreter
                    return
                }
                self = .script(interpreter: interpreter, argument: all.count > 1 ? all[1] : nil)
            }
        }
    }

    /// The directories in which `env` looks for the interpreter of a token command.
    package static let directories = ["/usr/local/bin", "/usr/bin", "/bin"]

    /// Returns the reason why `program` can't be started; `nil` if none is found. Reads the file, so don't call it on
    /// the cooperative thread pool.
    ///
    /// `refusal` is the error number of a failed attempt to start the program; `nil` if there was no attempt.
    package static func problem(of program: String, refusal: CInt? = nil) -> ProgramFault? {
        let path: String
        if program.contains(where: { $0 == "/" }) {
            path = program
        } else {
            let directories =
                ProcessEnvironment.variables["PATH"]?.split(separator: ":").map(String.init) ?? directories
            guard let directory = directories.first(where: { FileSystem.isAllowed(.execute, at: "\($0)/\(program)") })
            else {
                return problem(ofCommandLine: program) ?? .notInPath(program)
            }
            path = "\(directory)/\(program)"
        }
        guard let status = try? FileStatus(followingLinksAt: path) else {
            return problem(ofCommandLine: path) ?? (path.hasPrefix("~") ? .unexpandedTilde(path) : .missing(path))
        }
        guard status.kind == .file else { return .notAFile(path, kind: status.kind.rawValue) }
        guard status.permissions & 0o111 != 0 else { return .notExecutable(path) }
        guard FileSystem.isAllowed(.execute, at: path) else { return .forbidden(path) }
        guard let beginning = try? FileSystem.read(256, at: 0, of: path) else { return nil }
        return problem(of: path, FileKind(beginning), refusal: refusal) { FileSystem.isAllowed(.execute, at: $0) }
    }

    /// Returns a fault if `line` is a program and its arguments in one string, as in a shell. Returns `nil` if the
    /// first word isn't a program.
    private static func problem(ofCommandLine line: String) -> ProgramFault? {
        guard let blank = line.firstIndex(of: " ") else { return nil }
        let program = String(line[..<blank])
        let exists =
            program.contains(where: { $0 == "/" })
            ? (try? FileStatus(followingLinksAt: program)) != nil
            : directories.contains { FileSystem.isAllowed(.execute, at: "\($0)/\(program)") }
        return exists ? .programWithArguments(program: program, line: line) : nil
    }

    /// Returns the reason why a program of this `kind` can't be started; `nil` if none is found. `isProgram`
    /// returns whether there is an executable file at a path.
    static func problem(
        of path: String, _ kind: FileKind, refusal: CInt?, isProgram: (String) -> Bool
    ) -> ProgramFault? {
        switch kind {
        case .machineCode where refusal == ENOEXEC: return .builtForOtherProcessor(path)
        case .machineCode where refusal == ENOENT: return .builtForOtherSystem(path)
        case .machineCode: return nil
        case .empty: return .empty(path)
        case .byteOrderMark: return .byteOrderMark(path)
        case .noInterpreter: return .noInterpreter(path)
        case .carriageReturn: return .carriageReturn(path)
        case .script(let interpreter, _) where !isProgram(interpreter):
            return .interpreterMissing(path, ReportedText(interpreter, limit: 80))
        case .script(let interpreter, let name?)
        where FileSystem.lastComponent(of: interpreter) == "env" && !name.hasPrefix("-")
            && !name.contains(where: { $0 == "/" || $0 == "=" }):
            guard !directories.contains(where: { isProgram("\($0)/\(name)") }) else { return nil }
            return .interpreterNotFound(
                path, firstLine: ReportedText("#!\(interpreter) \(name)", limit: 160),
                name: ReportedText(name, limit: 80), directories: directories.joined(separator: ":"))
        case .script: return nil
        }
    }
}
