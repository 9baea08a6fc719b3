import LinuxPlatform
import ReportedText
import TrackDrawing

/// The one line that a terminal shows while a log is replayed.
struct ProgressLine {
    var name: String
    /// `nil` before the first fix, and where there is no end.
    var progress: ReplayProgress?
    var fixes: Int
    var accepted: Int
    var delivered: Int
    var elapsed: Duration
    /// Why nothing is sent at this moment.
    var trouble: ReportedText?

    /// As `town.nmea  43 %  258 fixes  26 sent  3 pending  1.2/s  34 s left`.
    var text: String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        var parts = [String(name.split(separator: "/").last ?? Substring(name))]
        if let progress { parts.append("\(Int(progress.share * 100)) %") }
        parts += [
            FigureText.count(fixes, "fix", "fixes"), "\(delivered) sent", "\(max(0, accepted - delivered)) pending",
            "\(FigureText.decimal(Double(delivered) / seconds, 1))/s",
        ]
        if let left { parts.append("\(FigureText.duration(left)) left") }
        if let trouble { parts.append("(\(trouble.cut(to: 40)))") }
        return parts.joined(separator: "  ")
    }

    /// What the plan leaves; without one, what all updates take that are to be expected, at the rate so far.
    private var left: Duration? {
        guard let progress, progress.share > 0.02 else { return nil }
        if progress.left > .milliseconds(50) { return progress.left }
        let rest = Double(accepted) / progress.share - Double(delivered)
        return delivered > 0 && rest > 0.5 ? elapsed * (rest / Double(delivered)) : nil
    }
}

/// Standard error as a person sees it: messages, and one line that is drawn over during the work.
struct Terminal: Sendable {
    /// Whether lines can be drawn over.
    static var isInteractive: Bool {
        StandardError.isTerminal && ProcessEnvironment.variables["TERM"] != "dumb"
    }

    /// Prints a line, or several, for people; freed of what could steer the terminal.
    static func say(_ text: String) { StandardError.writeNow(Array("\(text.printableLines)\n".utf8)) }

    /// Draws `text` over the line before; nothing when there is no terminal.
    static func draw(_ text: String) { StandardError.draw(Array(text.printable.prefix(110).utf8)) }
}
