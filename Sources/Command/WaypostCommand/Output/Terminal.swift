import Glibc
import LinuxPlatform
import ReportedText

/// The output on standard error: messages, and a progress line that is redrawn in place.
struct Terminal: Sendable {
    /// Whether standard error is a terminal on which a line can be redrawn.
    static var isInteractive: Bool {
        StandardError.isTerminal && ProcessEnvironment.variables["TERM"] != "dumb"
    }

    /// Prints the text, in which U+FFFD replaces all control characters except line feeds.
    static func say(_ text: String) { StandardError.writeNow(Array("\(text.printableLines)\n".utf8)) }

    /// Redraws the progress line. Does nothing without a terminal.
    static func draw(_ text: String) { StandardError.draw(Array(text.printable.prefix(width).utf8)) }

    /// The maximum width of the progress line. It is less than the terminal's width, because a wrapped line could not
    /// be erased.
    static var width: Int { max(1, StandardError.columns - 1) }
}

/// The colour of a verdict on a terminal.
enum Colour: Int {
    case red = 31, green, yellow

    /// Creates the colour of a verdict; `nil` for any other word.
    init?(verdict word: String) {
        switch word {
        case "ok": self = .green
        case "note", "skip", "warning": self = .yellow
        case "FAIL": self = .red
        default: return nil
        }
    }

    /// Whether standard output shows colours: it is a terminal that supports them, and NO_COLOR isn't set.
    static func isShown(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty
            && !["", "dumb"].contains(environment["TERM", default: ""])
    }

    /// Returns `word` between the escape sequences that start and end the colour.
    func painting(_ word: String) -> String { "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" }
}

extension StandardOutput {
    /// Writes a line that begins with a verdict, such as `ok`, `note` or `FAIL`, in the verdict's colour. Any other
    /// word isn't coloured.
    static func write(verdict word: String, _ rest: String) throws(SystemError) {
        let rest = rest.printable
        let isShown = Colour.isShown(isTerminal: isTerminal, environment: ProcessEnvironment.variables)
        guard isShown, let colour = Colour(verdict: word) else { return try write(line: word + rest) }
        try write(colour.painting(word), line: rest)
    }
}

/// An error for an output file that can't be written. The message includes a remedy.
struct UnwritableFile: Error, Sendable, Hashable, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String {
        let directory = FileSystem.parent(of: path)
        if cause.refusal != nil { return "\(path) cannot be written: \(cause)" }
        let remedy =
            switch cause.number {
            case ENOENT where directory == ".":
                "the current directory was removed or accepts no files; choose a file elsewhere"
            case ENOENT where FileSystem.volume(of: directory) == .kernel:
                "\(directory) belongs to the kernel and accepts no files; choose a file elsewhere"
            case EFBIG:
                "it would exceed the size limit (ulimit -f, or the file system's limit); choose a file elsewhere"
            case ENOENT, ENOTDIR: "there is no directory \(directory); create it, or choose another file"
            case EACCES, EPERM: "this user cannot write to \(directory); choose a file elsewhere"
            case EROFS: "\(directory) is on a read-only file system; mount it for writing, or choose a file elsewhere"
            case EISDIR: "it is a directory; choose a file in it"
            case ENOSPC where FileSystem.freeFiles(at: directory) == 0:
                "no inodes are left in \(directory) (df -i); remove files, or choose a file elsewhere"
            case ENOSPC, EDQUOT: "no space is left in \(directory); make room, or choose a file elsewhere"
            default: cause.reason
            }
        return "\(path) cannot be written: \(remedy)"
    }
}
