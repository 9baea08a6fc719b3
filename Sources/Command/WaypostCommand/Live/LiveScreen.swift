import LinuxPlatform
import ReportedText
import TimeAndChance
import TrackDrawing
import Operations

/// What `waypost status --watch` shows in a window of some size: as many lines as it has, none of them longer.
struct LiveScreen: Sendable, Hashable {
    /// A piece of a line, freed of what could steer the terminal, and how it is shown.
    struct Piece: Sendable, Hashable {
        /// By the numbers under which a terminal knows them.
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
            [Self.header(at: now, columns: columns)]
            + Self.verdict(service, at: now, columns: columns).prefix(max(1, rows / 4))
        let bottom: [Line] = [[Piece("q", .strong), Piece(" ends this view", .faint)]]
        var events = Self.events(service, columns: columns)
        if let report = service.report {
            let facts = Self.facts(report, isStale: service.silence != nil, columns: columns)
            let sky = SkyChart.lines(service.silence == nil ? report.receiver.sky ?? [] : [], columns: columns)
            // Of what has no room, the figures since the start and old events are missed least.
            let room = max(0, rows - top.count - bottom.count - min(events.count, 3))
            top += facts.prefix(max(0, room - min(sky.count, rows / 4)))
            top += (sky.isEmpty ? [] : sky + [[]]).prefix(
                max(0, rows - top.count - bottom.count - min(events.count, 3)))
        }
        events = Array(events.prefix(max(0, rows - top.count - bottom.count)))
        let blank = [Line](repeating: [], count: max(0, rows - top.count - events.count - bottom.count))
        lines = (top + events + blank + bottom).prefix(rows).map { Self.cut($0, to: columns) }
    }

    /// The lines as they are shown; in colours, where those are wanted.
    func text(inColour: Bool) -> [String] {
        lines.map { line in line.map { inColour ? $0.coloured : $0.text }.joined() }
    }

    private static func header(at now: UTCTime, columns: Int) -> Line {
        let clock = "\(FigureText.clock(now)) UTC"
        return [Piece("Waypost".filled(to: columns - clock.count), .strong), Piece(clock, .faint)]
    }

    private static func verdict(_ service: WatchedService, at now: UTCTime, columns: Int) -> [Line] {
        func lines(_ text: String, _ style: Piece.Style) -> [Line] {
            text.wrapped(to: columns).map { [Piece($0, style)] }
        }
        if let silence = service.silence {
            let since = "No answer since \(FigureText.clock(silence.since)) UTC; it is asked again each second."
            return lines(since, .bad) + lines(silence.reason, .plain)
        }
        guard let report = service.report else { return lines("The service is asked.", .faint) }
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

    /// Labels of facts that are none as long as all is well.
    private static let doubtful: Set<Substring> = ["bypasses"]

    private static func facts(_ report: StatusReport, isStale: Bool, columns: Int) -> [Line] {
        var style = Piece.Style.plain
        let lines: [Line] = StatusPage.facts(report, width: columns).map { line in
            // The lines after the first one of a fact have no label.
            let indented = line.dropFirst(2)
            if !indented.hasPrefix(" ") {
                let label = indented.firstRange(of: "  ").map { indented[..<$0.lowerBound] } ?? indented
                style = isStale ? .faint : Self.doubtful.contains(label) ? .doubtful : .plain
            }
            return [Piece(line, style)]
        }
        return [[]] + lines + [[]]
    }

    private static func events(_ service: WatchedService, columns: Int) -> [Line] {
        service.events.map { event in
            let style: Piece.Style =
                switch event.kind {
                case .good: .good
                case .bad: .bad
                case .neutral: .plain
                }
            return [Piece("  \(FigureText.clock(event.time))  ", .faint), Piece(event.text, style)]
        }
    }

    private static func cut(_ line: Line, to columns: Int) -> Line {
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

/// The satellites in lines of text: for each its number, its signal as a bar and in dB-Hz, and a star when it is used.
enum SkyChart {
    private static let bars = Array("▁▂▃▄▅▆▇█")
    private static let labelWidth = 15
    private static let cellWidth = 7

    /// A heading and, system by system, as many lines as it takes; nothing when the receiver does not tell.
    static func lines(_ sky: [StatusReport.SystemInView], columns: Int) -> [LiveScreen.Line] {
        guard !sky.isEmpty else { return [] }
        let perLine = max(1, (columns - labelWidth) / cellWidth)
        let heading: LiveScreen.Line = [
            .init("  sky".filled(to: labelWidth)), .init(" number, signal in dB-Hz, * used", .faint),
        ]
        return [heading]
            + sky.flatMap { system in
                stride(from: 0, to: system.satellites.count, by: perLine).map { start in
                    let row = system.satellites[start...].prefix(perLine)
                    let label = start == 0 ? "  \(system.system)" : ""
                    return [.init(label.filled(to: labelWidth))] + row.map(cell)
                }
            }
    }

    private static func cell(_ satellite: StatusReport.SystemInView.SatelliteInView) -> LiveScreen.Piece {
        let number = String(satellite.number).flushRight(in: 3)
        guard let signal = satellite.signalDecibelHertz else { return .init("\(number) -- ", .faint) }
        // Below 10 dB-Hz nothing is tracked, above 45 it gets no better.
        let bar = bars[min(max((signal - 10) / 5, 0), bars.count - 1)]
        let text = "\(number)\(bar)\(String(signal).flushRight(in: 2))"
        return satellite.used ? .init("\(text)*", .good) : .init("\(text) ")
    }
}
