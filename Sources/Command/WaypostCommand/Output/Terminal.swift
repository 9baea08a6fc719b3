import Glibc
import LinuxPlatform
import ReportedText

/// Standard error: messages, and one line that is redrawn during the work.
struct Terminal: Sendable {
    /// Whether lines can be redrawn.
    static var isInteractive: Bool {
        StandardError.isTerminal && ProcessEnvironment.variables["TERM"] != "dumb"
    }

    /// Prints lines without control characters.
    static func say(_ text: String) { StandardError.writeNow(Array("\(text.printableLines)\n".utf8)) }

    /// Redraws the last line; does nothing without a terminal.
    static func draw(_ text: String) { StandardError.draw(Array(text.printable.prefix(width).utf8)) }

    /// The maximum width of a line that is redrawn. A wrapped line would stay.
    static var width: Int { max(1, StandardError.columns - 1) }
}

/// The colour of a verdict on a terminal.
enum Colour: Int {
    case red = 31, green, yellow

    /// `nil` for a word that isn't a verdict.
    init?(verdict word: String) {
        switch word {
        case "ok": self = .green
        case "note", "skip", "warning": self = .yellow
        case "FAIL": self = .red
        default: return nil
        }
    }

    /// Whether standard output shows colours: a terminal that can, without NO_COLOR.
    static func isShown(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty
            && !["", "dumb"].contains(environment["TERM", default: ""])
    }

    /// Returns `word` between the sequences that begin and end the colour.
    func painting(_ word: String) -> String { "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" }
}

extension StandardOutput {
    /// Writes a line that begins with a verdict, such as `ok`, `note` or `FAIL`, in its colour. Other words have none.
    static func write(verdict word: String, _ rest: String) throws(SystemError) {
        let rest = rest.printable
        let isShown = Colour.isShown(isTerminal: isTerminal, environment: ProcessEnvironment.variables)
        guard isShown, let colour = Colour(verdict: word) else { return try write(line: word + rest) }
        try write(colour.painting(word), line: rest)
    }
}

/// A file for a command's result that cannot be written, with the remedy.
struct UnwritableFile: Error, Sendable, Hashable, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String {
        let directory = FileSystem.parent(of: path)
        if let refusal = cause.refusal { return "\(path) cannot be written: \(refusal.sentence)" }
        let remedy =
            switch cause.number {
            case ENOENT where directory == ".":
                "the current directory is gone or accepts no files; name a file elsewhere"
            case ENOENT where FileSystem.volume(of: directory) == .kernel:
                "\(directory) is the kernel's own and accepts no files; name a file elsewhere"
            case EFBIG: "it may not grow that large (ulimit -f, or the file system); name a file elsewhere"
            case ENOENT, ENOTDIR: "there is no directory \(directory); create it, or name another file"
            case EACCES, EPERM: "this user cannot write in \(directory); name a file elsewhere"
            case EROFS: "\(directory) is on a read-only file system; mount it for writing, or name a file elsewhere"
            case EISDIR: "it is a directory; name a file in it"
            case ENOSPC where FileSystem.freeFiles(at: directory) == 0:
                "no inodes are left in \(directory) (df -i); remove files, or name a file elsewhere"
            case ENOSPC, EDQUOT: "no space is left in \(directory); make room, or name a file elsewhere"
            default: cause.reason
            }
        return "\(path) cannot be written: \(remedy)"
    }
}
