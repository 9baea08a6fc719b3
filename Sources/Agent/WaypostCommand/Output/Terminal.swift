import LinuxPlatform
import ReportedText

/// Standard error as a person sees it: messages, and one line that is drawn over while work goes on.
struct Terminal: Sendable {
    /// Whether lines can be drawn over.
    static var isInteractive: Bool { StandardError.isTerminal }

    /// Prints a line, or several, for people; freed of what could steer the terminal.
    static func say(_ text: String) { StandardError.writeNow(Array("\(clearing)\(text.printableLines)\n".utf8)) }

    /// Draws `text` over the line before; nothing when nobody looks.
    static func draw(_ text: String) {
        if isInteractive { StandardError.writeNow(Array("\(clearing)\(text.printable.prefix(110))".utf8)) }
    }

    private static var clearing: String { isInteractive ? "\r\u{1B}[2K" : "" }
}
