import Waypost

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
