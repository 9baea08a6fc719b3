import Glibc
import LinuxPlatform
import ReportedText

/// Standard error as a person sees it: messages, and one line that is drawn over during the work.
struct Terminal: Sendable {
    /// Whether lines can be drawn over.
    static var isInteractive: Bool {
        StandardError.isTerminal && ProcessEnvironment.variables["TERM"] != "dumb"
    }

    /// Prints a line, or several, for people; freed of what could steer the terminal.
    static func say(_ text: String) { StandardError.writeNow(Array("\(text.printableLines)\n".utf8)) }

    /// Draws `text` over the line before; nothing when there is no terminal.
    static func draw(_ text: String) { StandardError.draw(Array(text.printable.prefix(width).utf8)) }

    /// What a line that is drawn over may hold: one that wraps would stay.
    static var width: Int { max(1, StandardError.columns - 1) }
}

/// The colour of a word that says how something went, where a person sees it on a terminal that shows colours.
enum Colour: Int {
    case red = 31, green, yellow

    /// `nil` for a word that says nothing of the kind.
    init?(verdict word: String) {
        switch word {
        case "ok": self = .green
        case "note", "skip", "warning": self = .yellow
        case "FAIL": self = .red
        default: return nil
        }
    }

    /// Whether standard output takes colours: a terminal that knows them, of somebody who has not declined.
    static func isShown(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty
            && !["", "dumb"].contains(environment["TERM", default: ""])
    }

    /// `word` between the sequences that begin and end the colour.
    func painting(_ word: String) -> String { "\u{1B}[\(rawValue)m\(word)\u{1B}[0m" }
}

extension StandardOutput {
    /// Writes one line that begins with how something went, as `ok`, `note`, `skip`, `warning` or `FAIL`, in its
    /// colour; any other word stays as it is.
    static func write(verdict word: String, _ rest: String) throws(SystemError) {
        let rest = rest.printable
        let isShown = Colour.isShown(isTerminal: isTerminal, environment: ProcessEnvironment.variables)
        guard isShown, let colour = Colour(verdict: word) else { return try write(line: word + rest) }
        try write(colour.painting(word), line: rest)
    }
}

/// A file for a command's result that cannot be written, in words that say what to do.
struct UnwritableFile: Error, Sendable, Hashable, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String {
        let folder = FileSystem.parent(of: path)
        if let refusal = cause.refusal { return "\(path) cannot be written: \(refusal)" }
        let remedy =
            switch cause.number {
            case ENOENT where folder == ".": "the current folder is gone, or takes no files; name a file elsewhere"
            case ENOENT where FileSystem.volume(of: folder) == .kernel:
                "\(folder) is the kernel's own and takes no files; name a file elsewhere"
            case EFBIG: "it may not grow that large (ulimit -f, or the file system); name a file elsewhere"
            case ENOENT, ENOTDIR: "there is no folder \(folder); create it, or name another file"
            case EACCES, EPERM: "this user may not write in \(folder); name a file elsewhere"
            case EROFS: "\(folder) is on a read-only file system; mount it for writing, or name a file elsewhere"
            case EISDIR: "it is a folder; name a file in it"
            case ENOSPC where FileSystem.freeFiles(at: folder) == 0:
                "no inodes are left in \(folder) (df -i); remove files, or name a file elsewhere"
            case ENOSPC, EDQUOT: "no space is left in \(folder); make room, or name a file elsewhere"
            default: cause.reason
            }
        return "\(path) cannot be written: \(remedy)"
    }
}
