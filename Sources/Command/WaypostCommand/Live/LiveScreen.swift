import LinuxPlatform
import ReportedText
import TimeAndRandomness
import TrackDrawing
import Operations

/// The content of `waypost status --watch`: lines that fill the terminal.
struct LiveScreen: Sendable, Hashable {
    /// A piece of a line in one style. Its text contains no control characters.
    struct Piece: Sendable, Hashable {
        /// A text style. The raw value is the parameter of the SGR escape sequence that selects the style on a
        /// terminal.
        enum Style: Int, Sendable, Hashable { case plain, strong, faint, bad = 31, good, doubtful }

        let text: String
        let style: Style

        init(_ text: String, _ style: Style = .plain) {
            self.text = text.printable
            self.style = style
        }
    }

    typealias Line = [Piece]

    let lines: [Line]

    init(_ service: WatchedService, at now: UTCTime, size: TerminalScreen.Size) {
        let columns = size.columns
        let rows = size.rows
        var top =
            [Self.headerLine(at: now, columns: columns)]
            + Self.verdictLines(service, at: now, columns: columns).prefix(max(1, rows / 4))
        let bottom: [Line] = [[Piece("q", .strong), Piece(" quits", .faint)]]
        var events = Self.eventLines(service, columns: columns)
        if let report = service.report {
            let facts = Self.factLines(report, isStale: service.silence != nil, columns: columns)
            let sky = SkyChart.lines(service.silence == nil ? report.receiver.sky ?? [] : [], columns: columns)
            // If the terminal has too few rows, the last facts and the oldest events are left out.
            let room = max(0, rows - top.count - bottom.count - min(events.count, 3))
            top += facts.prefix(max(0, room - min(sky.count, rows / 4)))
            top += (sky.isEmpty ? [] : sky + [[]]).prefix(
                max(0, rows - top.count - bottom.count - min(events.count, 3)))
        }
        events = Array(events.prefix(max(0, rows - top.count - bottom.count)))
        let blank = [Line](repeating: [], count: max(0, rows - top.count - events.count - bottom.count))
        lines = (top + events + blank + bottom).prefix(rows).map { Self.truncated($0, to: columns) }
    }

    /// Returns the lines as text, with escape sequences for their styles if `inColour` is `true`.
    func text(inColour: Bool) -> [String] {
        lines.map { line in line.map { inColour ? $0.coloured : $0.text }.joined() }
    }

    private static func headerLine(at now: UTCTime, columns: Int) -> Line {
        let clock = "\(FigureText.timeOfDay(now)) UTC"
        return [Piece("Waypost".padded(to: columns - clock.count), .strong), Piece(clock, .faint)]
    }

    private static func verdictLines(_ service: WatchedService, at now: UTCTime, columns: Int) -> [Line] {
        func lines(_ text: String, _ style: Piece.Style) -> [Line] {
            text.wrapped(to: columns).map { [Piece($0, style)] }
        }
        if let silence = service.silence {
            let since = "No answer since \(FigureText.timeOfDay(silence.since)) UTC; retrying every second."
            return lines(since, .bad) + lines(silence.reason, .plain)
        }
        guard let report = service.report else { return lines("Waiting for the service's answer.", .faint) }
        let verdict = report.verdict(at: now)
        return verdict.paragraphs.flatMap(\.self).flatMap { line in
            switch line.part {
            case .title: lines(line.text, verdict.kind == .trouble ? .bad : .good)
            case .remedy: lines(line.text, .strong)
            case .cause: lines(line.text, .plain)
            case .safety: lines(line.text, .faint)
            }
        }
    }

    /// The labels of facts that appear only if something is wrong, and are therefore highlighted.
    private static let highlightedLabels: Set<Substring> = ["bypasses"]

    private static func factLines(_ report: StatusReport, isStale: Bool, columns: Int) -> [Line] {
        var style = Piece.Style.plain
        let lines: [Line] = StatusPage.facts(report, width: columns).map { line in
            // Only the first line of a fact has a label. The following lines keep its style.
            let indented = line.dropFirst(2)
            if !indented.hasPrefix(" ") {
                let label = indented.firstRange(of: "  ").map { indented[..<$0.lowerBound] } ?? indented
                style = isStale ? .faint : Self.highlightedLabels.contains(label) ? .doubtful : .plain
            }
            return [Piece(line, style)]
        }
        return [[]] + lines + [[]]
    }

    private static func eventLines(_ service: WatchedService, columns: Int) -> [Line] {
        service.events.map { event in
            let style: Piece.Style =
                switch event.kind {
                case .good: .good
                case .bad: .bad
                case .neutral: .plain
                }
            return [Piece("  \(FigureText.timeOfDay(event.time))  ", .faint), Piece(event.text, style)]
        }
    }

    private static func truncated(_ line: Line, to columns: Int) -> Line {
        var room = columns
        return line.map { piece in
            defer { room = max(0, room - piece.text.count) }
            return piece.text.count <= room
                ? piece : Piece(String(piece.text.prefix(max(0, room - 1))) + (room > 0 ? "…" : ""), piece.style)
        }
    }
}

extension LiveScreen.Piece {
    fileprivate var coloured: String {
        style == .plain ? text : "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// A chart of the satellites as text. It shows each satellite's number, its signal in dB-Hz with a bar, and a star if
/// the satellite is used.
enum SkyChart {
    private static let bars = Array("▁▂▃▄▅▆▇█")
    private static let labelWidth = 15
    private static let cellWidth = 7

    /// Returns a heading and the lines of each satellite system; empty if the receiver doesn't report satellites.
    static func lines(_ sky: [StatusReport.SystemInView], columns: Int) -> [LiveScreen.Line] {
        guard !sky.isEmpty else { return [] }
        let perLine = max(1, (columns - labelWidth) / cellWidth)
        let heading: LiveScreen.Line = [
            .init("  sky".padded(to: labelWidth)), .init(" number, signal in dB-Hz, * used", .faint),
        ]
        return [heading]
            + sky.flatMap { system in
                stride(from: 0, to: system.satellites.count, by: perLine).map { start in
                    let row = system.satellites[start...].prefix(perLine)
                    let label = start == 0 ? "  \(system.system)" : ""
                    return [.init(label.padded(to: labelWidth))] + row.map(cell)
                }
            }
    }

    private static func cell(_ satellite: StatusReport.SystemInView.SatelliteInView) -> LiveScreen.Piece {
        let number = String(satellite.number).leftPadded(to: 3)
        guard let signal = satellite.signalDecibelHertz else { return .init("\(number) -- ", .faint) }
        // The bar covers 10 to 45 dB-Hz. Receivers track no weaker signals, and few signals are stronger.
        let bar = bars[min(max((signal - 10) / 5, 0), bars.count - 1)]
        let text = "\(number)\(bar)\(String(signal).leftPadded(to: 2))"
        return satellite.used ? .init("\(text)*", .good) : .init("\(text) ")
    }
}
