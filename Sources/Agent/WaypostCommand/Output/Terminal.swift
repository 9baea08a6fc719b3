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
