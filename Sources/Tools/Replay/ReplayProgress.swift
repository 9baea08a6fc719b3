import GNSSReceiver
import LinuxPlatform
import ReportedText
import TrackDrawing

/// The progress of a replay: the share of the logs' time that has been played, and the remaining time.
struct ReplayProgress: Sendable, Hashable {
    /// The share of the logs that has been played, from 0 to 1. It is below the planned share if the machine is too
    /// slow.
    let share: Double
    /// The time since the first fix.
    let elapsed: Duration
    /// The time until the planned end; zero if the replay is late, or at maximum speed, which has no planned end.
    let remaining: Duration

    /// Creates the progress of one vehicle. `reached` is the time within the logs up to which the replay has come.
    /// `length` is the total time of all logs.
    init(reached: Duration, of length: Duration, elapsed: Duration, speed: ReplaySpeed) {
        let planned = length * speed.stretch
        let read = length > .zero ? reached / length : 1
        share = min(1, read, planned > .zero ? elapsed / planned : 1)
        remaining = max(.zero, planned - elapsed)
        self.elapsed = elapsed
    }

    /// Creates the progress of many vehicles, which together have read `fixes` of their `all` fixes.
    init(fixes: Int, of all: Int, elapsed: Duration, planned: Duration) {
        share = min(1, Double(fixes) / Double(max(1, all)))
        remaining = max(.zero, planned - elapsed)
        self.elapsed = elapsed
    }
}

/// The line that a terminal shows during a replay.
struct ProgressLine {
    var name: String
    /// The progress of the replay; `nil` before the first fix, and for a replay that doesn't end by itself.
    var progress: ReplayProgress?
    var fixes: Int
    var accepted: Int
    var delivered: Int
    var elapsed: Duration
    /// The reason why updates can't currently be delivered; `nil` if there is none.
    var trouble: ReportedText?
    /// The number of vehicles, with the number and the figures of their requests; `nil` for one vehicle.
    var fleet: (vehicles: Int, requests: Int, figures: RequestFigures)?

    /// Returns the line, such as `town.nmea  43 %  258 fixes  26 sent  3 pending  1.2/s  34 s left`, or for many
    /// vehicles `town.nmea  43 %  300 vehicles  3 pending  29.8 requests/s  p50 2 ms  p99 9 ms  4 x 503  34 s left`.
    ///
    /// If the line would be longer than `width` characters, the name and the counts are left out. If updates can't be
    /// delivered, the reason replaces the rates and the time left. The end of the reason is cut off if there isn't
    /// enough room.
    func text(width: Int) -> String {
        let name = [FileSystem.lastComponent(of: name)]
        let share = progress.map { ["\(Int($0.share * 100)) %"] } ?? []
        let pending = ["\(max(0, accepted - delivered)) pending"]
        if let trouble {
            let line = (share + pending + [trouble.description]).joined(separator: "  ")
            return line.count > width ? line.prefix(width - 1) + "…" : line
        }
        let counts =
            fleet.map { [$0.vehicles.counted("vehicle")] } ?? [
                fixes.counted("fix", plural: "fixes"), "\(delivered) sent",
            ]
        let rest = rates + (remaining.map { ["\(FigureText.duration($0)) left"] } ?? [])
        let forms = [name + share + counts + pending + rest, share + pending + rest, share + rest]
            .map { $0.joined(separator: "  ") }
        return forms.first { $0.count <= width } ?? forms[2]
    }

    private var rates: [String] {
        let seconds = max(elapsed / .seconds(1), 0.001)
        guard let fleet else { return ["\(FigureText.decimal(Double(delivered) / seconds, places: 1))/s"] }
        let times = [("p50", 0.5), ("p99", 0.99)].compactMap { name, share in
            fleet.figures.answerTime(atQuantile: share).map { "\(name) \($0.inMilliseconds)" }
        }
        return ["\(FigureText.decimal(Double(fleet.requests) / seconds, places: 1)) requests/s"] + times
            + [fleet.figures.failureList].compactMap(\.self)
    }

    /// The time left until the planned end; `nil` if it can't be estimated. Without a plan, it is an estimate: the time
    /// to deliver all expected updates at the average rate so far.
    private var remaining: Duration? {
        guard let progress, progress.share > 0.02 else { return nil }
        if progress.remaining > .milliseconds(50) { return progress.remaining }
        let rest = Double(accepted) / progress.share - Double(delivered)
        return delivered > 0 && rest > 0.5 ? elapsed * (rest / Double(delivered)) : nil
    }
}
