import Glibc
import LinuxPlatform
import ReportedText

/// The program of a token command: why the system does not start it, where its own words ("No such file or directory",
/// "Exec format error") do not say what is wrong.
package enum TokenProgram {
    /// What the kernel makes of a file by its first line.
    enum Opening: Sendable, Hashable {
        /// ELF.
        case machineCode
        case script(interpreter: String, argument: String?)
        /// A script with the line ends of Windows: the carriage return is part of the name.
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
                // Blanks before the interpreter are the kernel's to skip.
                let all = words.flatMap { $0.split(separator: " ").map(String.init) }
                guard let interpreter = all.first else {
                    self = .noInterpreter
                    return
                }
                self = .script(interpreter: interpreter, argument: all.count > 1 ? all[1] : nil)
            }
        }
    }

    /// Where a token command looks for what `env` is to start.
    package static let folders = ["/usr/local/bin", "/usr/bin", "/bin"]

    /// Why `program` cannot be started, a sentence with its remedy; `nil` when nothing shows.
    ///
    /// `refusal`: what the system said when it was tried. Reads the file; not for the shared pool.
    package static func problem(of program: String, refusal: CInt? = nil) -> String? {
        let path: String
        if program.contains(where: { $0 == "/" }) {
            path = program
        } else {
            let folders = ProcessEnvironment.variables["PATH"]?.split(separator: ":").map(String.init) ?? folders
            guard let folder = folders.first(where: { FileSystem.isAllowed(.execute, at: "\($0)/\(program)") }) else {
                if let problem = problem(ofWholeLine: program) { return problem }
                return "there is no program \(program) in PATH; write its whole path, from / on"
            }
            path = "\(folder)/\(program)"
        }
        guard let status = try? FileStatus(behind: path) else {
            if let problem = problem(ofWholeLine: path) { return problem }
            if path.hasPrefix("~") {
                return "there is no \(path), for only a shell reads ~ as a home; write the whole path, from / on"
            }
            return "there is no \(path); check the path, and that the program is installed"
        }
        guard status.kind == .file else {
            return "\(path) is \(status.kind.rawValue), not a program"
                + (status.kind == .folder ? "; name the program in it" : "; name a program")
        }
        guard status.permissions & 0o111 != 0 else { return "\(path) cannot be executed; run chmod +x \(path)" }
        guard FileSystem.isAllowed(.execute, at: path) else {
            return
                "\(path) may not be executed by this user, or lies where no program may (mounted with noexec); open it "
                + "to that user (chmod), or move it"
        }
        guard let beginning = try? FileSystem.read(256, at: 0, of: path) else { return nil }
        return problem(of: path, Opening(beginning), refusal) { FileSystem.isAllowed(.execute, at: $0) }
    }

    /// A program and its arguments in one text, as a shell takes them; `nil` where the first word is no program.
    private static func problem(ofWholeLine line: String) -> String? {
        guard let blank = line.firstIndex(of: " ") else { return nil }
        let program = String(line[..<blank])
        let isThere =
            program.contains(where: { $0 == "/" })
            ? (try? FileStatus(behind: program)) != nil
            : folders.contains { FileSystem.isAllowed(.execute, at: "\($0)/\(program)") }
        guard isThere else { return nil }
        return "there is no \(line); write the program and each of its arguments as a text of its own, as "
            + "[\"\(program)\", \"argument\"]; no shell reads them, so for one write [\"/bin/sh\", \"-c\", \"...\"]"
    }

    /// The same by what the file begins with; `isProgram`: whether one lies at a path.
    static func problem(
        of path: String, _ opening: Opening, _ refusal: CInt?, isProgram: (String) -> Bool
    ) -> String? {
        switch opening {
        case .machineCode where refusal == ENOEXEC:
            return "\(path) is made for another kind of processor; install the one for this machine (uname -m)"
        case .machineCode where refusal == ENOENT:
            return "\(path) is made for another system, whose loader is not here; install the one for this machine "
                + "(file \(path) names the loader)"
        case .machineCode: return nil
        case .empty: return "\(path) is empty; install the program again"
        case .byteOrderMark:
            return "\(path) begins with a byte order mark, which hides its first line from the kernel; run "
                + "sed -i '1s/^\\xEF\\xBB\\xBF//' \(path)"
        case .noInterpreter:
            return
                "\(path) is a script without an interpreter; make its first line #!/bin/sh, or whatever it is written "
                + "for"
        case .carriageReturn:
            return
                "\(path) has the line ends of Windows, which the kernel takes for a part of the interpreter's name; run "
                + "sed -i 's/\\r$//' \(path)"
        case .script(let interpreter, _) where !isProgram(interpreter):
            return
                "\(path) begins with #!\(ReportedText(interpreter, limit: 80)), which is not there or cannot be "
                + "executed; install it, or correct the first line"
        case .script(let interpreter, let name?)
        where FileSystem.name(of: interpreter) == "env" && !name.hasPrefix("-")
            && !name.contains(where: { $0 == "/" || $0 == "=" }):
            guard !folders.contains(where: { isProgram("\($0)/\(name)") }) else { return nil }
            let shown = ReportedText(name, limit: 80)
            let line = "#!\(ReportedText(interpreter, limit: 80)) \(shown)"
            return "\(path) begins with \(line), and there is no \(shown) in "
                + "\(folders.joined(separator: ":")), where a token command looks; install it, or correct the first line"
        case .script: return nil
        }
    }
}
