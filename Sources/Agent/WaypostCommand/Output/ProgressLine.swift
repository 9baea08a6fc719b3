import LinuxPlatform
import ReportedText
import TrackDrawing

/// The one line that a terminal shows while a log is replayed.
struct ProgressLine {
    var name: String
    var bytesRead: Int64
    /// 0 when it cannot be known.
    var totalBytes: Int64
    var fixes: Int
    var accepted: Int
    var delivered: Int
    var elapsed: Duration
    /// Why nothing is sent at this moment.
    var trouble: ReportedText?

    /// As `town.nmea  43 %  258 fixes  26 sent  3 pending  1.2/s  34 s left`.
    var text: String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let share = totalBytes > 0 ? min(1, Double(bytesRead) / Double(totalBytes)) : 0
        var parts = [String(name.split(separator: "/").last ?? Substring(name))]
        if totalBytes > 0 { parts.append("\(Int(share * 100)) %") }
        parts += [
            FigureText.count(fixes, "fix", "fixes"), "\(delivered) sent", "\(max(0, accepted - delivered)) pending",
            "\(FigureText.decimal(Double(delivered) / seconds, 1))/s",
        ]
        if share > 0.02, share < 1 {
            parts.append("\(FigureText.duration(.seconds(seconds * (1 - share) / share))) left")
        }
        if let trouble { parts.append("(\(trouble.cut(to: 40)))") }
        return parts.joined(separator: "  ")
    }
}

/// Standard error as a person sees it: messages, and one line that is drawn over during the work.
struct Terminal: Sendable {
    /// Whether lines can be drawn over.
    static var isInteractive: Bool {
        StandardError.isTerminal && ProcessEnvironment.variables["TERM"] != "dumb"
    }

    /// Prints a line, or several, for people; freed of what could steer the terminal.
    static func say(_ text: String) { StandardError.writeNow(Array("\(clearing)\(text.printableLines)\n".utf8)) }

    /// Draws `text` over the line before; nothing when there is no terminal.
    static func draw(_ text: String) {
        if isInteractive { StandardError.writeNow(Array("\(clearing)\(text.printable.prefix(110))".utf8)) }
    }

    private static var clearing: String { isInteractive ? "\r\u{1B}[2K" : "" }
}
