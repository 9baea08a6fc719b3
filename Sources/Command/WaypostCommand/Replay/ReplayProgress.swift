import GNSSReceiver
import LinuxPlatform
import ReportedText
import TrackDrawing
import Operations

/// How much of its logs' time a replay has played, and what its plan leaves.
struct ReplayProgress: Sendable, Hashable {
    /// From 0 to 1; a machine that reads more slowly than planned shows here.
    let share: Double
    /// Since the first fix.
    let elapsed: Duration
    /// Until the plan's end; zero for a replay without one, as fast as can be, and for one that is late.
    let left: Duration

    /// `reached` is the log time of the fix that comes next, or came last, `length` that of all.
    init(reached: Duration, of length: Duration, elapsed: Duration, speed: ReplaySpeed) {
        let planned = length * speed.stretch
        let read = length > .zero ? reached / length : 1
        share = min(1, read, planned > .zero ? elapsed / planned : 1)
        left = max(.zero, planned - elapsed)
        self.elapsed = elapsed
    }

    /// Of many vehicles, which together have read `fixes` of all that they will read.
    init(fixes: Int, of all: Int, elapsed: Duration, planned: Duration) {
        share = min(1, Double(fixes) / Double(max(1, all)))
        left = max(.zero, planned - elapsed)
        self.elapsed = elapsed
    }
}

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
    /// Of many vehicles: how many they are, and how their requests fare.
    var fleet: (vehicles: Int, requests: Int, figures: RequestFigures)?

    /// As `town.nmea  43 %  258 fixes  26 sent  3 pending  1.2/s  34 s left`; many vehicles leave no room for fixes and
    /// updates, as `town.nmea  43 %  300 vehicles  3 pending  29.8 requests/s  p50 2 ms  p99 9 ms  4 x 503  34 s left`.
    ///
    /// Where that is more than `width` characters, name and counts are left out. Behind it comes what is in the way of
    /// delivery, for which the rest makes room: first its addresses are cut, then figures and name are left out, then
    /// its remedy, and its middle is cut last.
    func text(width: Int) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let name = [FileSystem.name(of: name)]
        let share = progress.map { ["\(Int($0.share * 100)) %"] } ?? []
        let pending = ["\(max(0, accepted - delivered)) pending"]
        let (counts, figures, failures): ([String], [String], String?)
        if let fleet {
            counts = [fleet.vehicles.counted("vehicle")] + pending
            figures = Self.words(of: fleet, seconds)
            failures = fleet.figures.failuresInWords
        } else {
            counts = [fixes.counted("fix", "fixes"), "\(delivered) sent"] + pending
            figures = ["\(FigureText.decimal(Double(delivered) / seconds, 1))/s"]
            failures = nil
        }
        let end = left.map { ["\(FigureText.duration($0)) left"] } ?? []
        let all = [failures].compactMap(\.self)
        let most = [failures.map(Self.mostFrequent)].compactMap(\.self)
        let parts = name + share + counts + figures + all + end
        guard let trouble = trouble?.description else {
            let forms = [
                parts, share + counts + figures + all + end, share + pending + figures + all + end,
                share + figures + all + end, share + figures + most + end,
            ].map { $0.joined(separator: "  ") }
            return forms.first { $0.count <= width } ?? forms[forms.endIndex - 1]
        }
        let brief = Self.withoutAddresses(trouble)
        let least = share + pending
        let cause = brief.firstRange(of: "; ").map { String(brief[..<$0.lowerBound]) } ?? brief
        let forms = [
            (parts, trouble), (parts, brief), (name + least + all, brief), (least + all, brief), (least + most, brief),
            (least + most, cause), (least, cause),
        ]
        for (parts, reason) in forms {
            let line = (parts + ["(\(reason))"]).joined(separator: "  ")
            if line.count <= width { return line }
        }
        let room = width - (least + ["()"]).joined(separator: "  ").count
        return (least + ["(\(Self.withoutMiddle(cause, room)))"]).joined(separator: "  ")
    }

    private static func mostFrequent(of failures: String) -> String {
        failures.firstRange(of: ", ").map { "\(failures[..<$0.lowerBound]), …" } ?? failures
    }

    private static func withoutAddresses(_ reason: String) -> String {
        let words = reason.split(separator: " ").map { word in
            word.contains("://")
                ? "…" + String(word.reversed().prefix { ":;,.)".contains($0) }.reversed()) : String(word)
        }
        return words.drop { $0 == "…:" }.joined(separator: " ")
    }

    /// What kind of failure it is stands at the beginning, and its cause at the end.
    private static func withoutMiddle(_ reason: String, _ room: Int) -> String {
        let end = max(0, room - 1) / 2
        return reason.prefix(max(0, room - 1 - end)) + "…" + reason.suffix(end)
    }

    private static func words(
        of fleet: (vehicles: Int, requests: Int, figures: RequestFigures), _ seconds: Double
    ) -> [String] {
        let times = [("p50", 0.5), ("p99", 0.99)].compactMap { name, share in
            fleet.figures.time(of: share).map { "\(name) \($0.inMilliseconds)" }
        }
        return ["\(FigureText.decimal(Double(fleet.requests) / seconds, 1)) requests/s"] + times
    }

    /// What the plan leaves; without one, what all updates take that are to be expected, at the rate so far.
    private var left: Duration? {
        guard let progress, progress.share > 0.02 else { return nil }
        if progress.left > .milliseconds(50) { return progress.left }
        let rest = Double(accepted) / progress.share - Double(delivered)
        return delivered > 0 && rest > 0.5 ? elapsed * (rest / Double(delivered)) : nil
    }
}
