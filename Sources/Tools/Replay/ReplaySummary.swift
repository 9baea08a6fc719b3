import GNSSReceiver
import HTTPMessages
import ReportedText
package import Reporting
import StrictJSON
import TrackDrawing
import Operations

/// The result of a replay, as text and as one JSON object.
package struct ReplaySummary: Encodable {
    package let counts: ReplayCounts
    package let ledger: Ledger
    var pace: ReplayPace
    /// The cost per hour of driving; `nil` for less than a minute of driving. It is also `nil` at maximum speed,
    /// because updates then share requests and cost less.
    let hourly: HourlyCost?
    /// The errors that a follower of the vehicle sees; `nil` for many vehicles.
    let errors: ReplayErrors?
    var vehicles = 1
    /// Remarks about the logs, for example that the timestamps in a log jump backwards.
    var remarks: [String] = []

    init(
        counts: DeliveryCounts, ledger: Ledger, duration: Duration, driven: Duration = .zero,
        at speed: ReplaySpeed = .times(1), requests figures: RequestFigures = .init(), errors: FollowerErrors? = nil,
        bytesWritten: Int64? = nil
    ) {
        self.counts = ReplayCounts(counts)
        self.ledger = ledger
        pace = ReplayPace(figures, requests: counts.requests, duration: duration, driven: driven)
        self.errors = errors.map(ReplayErrors.init)
        let isTimed = driven >= .seconds(60) && speed != .maximum
        hourly = isTimed ? HourlyCost(self.counts, bytesWritten: bytesWritten ?? 0, driven: driven) : nil
    }

    private enum CodingKeys: CodingKey { case vehicles, remarks }

    /// Encodes the members of all parts into one object, without nesting.
    package func encode(to encoder: any Encoder) throws {
        try counts.encode(to: encoder)
        try ledger.encode(to: encoder)
        try pace.encode(to: encoder)
        try hourly?.encode(to: encoder)
        try errors?.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(vehicles, forKey: .vehicles)
        try own.encode(remarks, forKey: .remarks)
    }

    /// Whether the replay delivered everything. Every accepted update must have been delivered, and the ledger must
    /// balance. If fixes were read, at least one update must have been accepted.
    package var isComplete: Bool {
        ledger.accepted == ledger.delivered && (ledger.accepted > 0 || counts.fixes == 0) && ledger.balances
    }

    package var json: String { (try? JSONValue(encoding: self).text) ?? "{}" }  // encoding these values can't fail

    /// The figures, followed by a verdict on whether everything was delivered.
    package var text: String {
        let accepted = ledger.accepted
        let missing = accepted - ledger.delivered
        let verdict =
            switch (isComplete, accepted) {
            case (true, 0): "No update was accepted, so there was nothing to deliver."
            case (true, 1): "The accepted update was delivered."
            case (false, 0) where counts.notStored > 0:
                "No update could be stored: \(counts.notStored.counted("position")) sent from memory or lost; see the messages above."
            case (false, 0) where counts.withheldFixes == counts.fixes:
                "No update was accepted: private mode is on (vehicle.privateModeFile or reporting.privateZones)."
            case (false, 0): "No update was accepted, although fixes were read; see the messages above."
            case (true, _): "All \(accepted.grouped) accepted updates were delivered."
            case (false, _):
                "\(missing.grouped) of \(accepted.counted("accepted update")) \(missing == 1 ? "was" : "were") not delivered: "
                    + "\(ledger.pending) pending, \(ledger.evicted) evicted, \(ledger.quarantined) quarantined."
            }
        return "\(figures)\n\(verdict)"
    }

    /// The figures without the verdict, as shown for an interrupted replay.
    package var figures: String {
        let balance = ledger.balances ? "balances" : "DOES NOT BALANCE; please report this with the outbox file"
        let clauses = [vehicles > 1 ? vehicles.counted("vehicle") : nil, pace.text(forManyVehicles: vehicles > 1)]
        return """
            \(counts.text(in: pace.seconds))\(remarks.map { "\n\($0)" }.joined())\(hourly?.text ?? "")\(errors?.text ?? "")
            \(clauses.compactMap(\.self).joined(separator: "; "))
            ledger: accepted \(ledger.accepted) = delivered \(ledger.delivered) + pending \(ledger.pending) + evicted \
            \(ledger.evicted) + quarantined \(ledger.quarantined), which \(balance)
            """
    }
}

package struct ReplayCounts: Encodable {
    /// The number of fixes that were read.
    package let fixes: Int
    /// The number of fixes that were rejected as implausible, by reason.
    let rejectedFixes: [String: Int]
    /// The number of fixes that were withheld because private mode was on.
    let withheldFixes: Int
    let tokenFetches: Int
    let requests: Int
    let retries: Int
    /// The number of updates that the outbox could not store.
    let notStored: Int
    let bytesSent: Int
    let bytesReceived: Int

    init(_ counts: DeliveryCounts) {
        fixes = counts.fixesRead
        rejectedFixes = counts.rejectedFixes
        withheldFixes = counts.withheld
        tokenFetches = counts.tokenFetches
        requests = counts.requests
        retries = counts.retries
        notStored = counts.notStored
        bytesSent = counts.traffic.bytesSent
        bytesReceived = counts.traffic.bytesReceived
    }

    func text(in seconds: Double) -> String {
        "\(fixes.counted("fix", plural: "fixes")) read in \(seconds) s; \(requests.counted("request")), \(retries) of them retried; "
            + "\(tokenFetches.counted("token request")); \(bytesSent) bytes sent, \(bytesReceived) received.\(omissions)"
    }

    /// The number of fixes that weren't reported and the reasons, as text; empty if there are none.
    private var omissions: String {
        let rejected = rejectedFixes.values.reduce(0, +)
        let reasons = rejectedFixes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        let clauses = [
            rejected > 0
                ? "\(rejected.counted("fix", plural: "fixes")) rejected (\(reasons.joined(separator: ", ")))" : nil,
            withheldFixes > 0 ? "\(withheldFixes.counted("fix", plural: "fixes")) withheld (private mode)" : nil,
        ].compactMap(\.self)
        return clauses.isEmpty ? "" : "\nnot reported: \(clauses.joined(separator: "; "))"
    }
}

/// The rate and the failures of the requests, and the response times.
struct ReplayPace: Encodable {
    let seconds: Double
    /// The total length of the logs of all vehicles. Gaps don't count, because the replay skips them.
    let drivenSeconds: Double
    let requestsPerSecond: Double
    /// The response times' median, 99th percentile and maximum; `nil` if there was no response.
    let answerSecondsP50, answerSecondsP99, maximumAnswerSeconds: Double?
    /// The number of failed requests by cause: an HTTP status, a transport failure or a missing token.
    let failures: [String: Int]
    /// The maximum time by which a fix was read too late; `nil` unless the replay runs in real time.
    let maximumLagSeconds: Double?
    /// The maximum time for which an update was pending; `nil` if the replay has only one vehicle, or if no update was
    /// accepted.
    private(set) var maximumWaitSeconds: Double?

    init(_ figures: RequestFigures, requests: Int, duration: Duration, driven: Duration) {
        seconds = (duration / .milliseconds(1)).rounded() / 1000
        drivenSeconds = (driven / .milliseconds(1)).rounded() / 1000
        requestsPerSecond = (Double(requests) / max(seconds, 0.001) * 10).rounded() / 10
        answerSecondsP50 = figures.answerTime(atQuantile: 0.5).map(Self.seconds)
        answerSecondsP99 = figures.answerTime(atQuantile: 0.99).map(Self.seconds)
        maximumAnswerSeconds = figures.answerCount > 0 ? Self.seconds(figures.maximumAnswer) : nil
        failures = figures.failures
        maximumLagSeconds = figures.maximumLag.map(Self.seconds)
    }

    mutating func note(maximumWait: Duration) { maximumWaitSeconds = Self.seconds(maximumWait) }

    /// Returns the duration in seconds, rounded to a tenth of a millisecond.
    private static func seconds(_ duration: Duration) -> Double { (duration / .microseconds(100)).rounded() / 10_000 }

    func text(forManyVehicles areMany: Bool) -> String {
        var clauses = ["\(FigureText.decimal(requestsPerSecond, places: 1)) requests per second"]
        if let answerSecondsP50, let answerSecondsP99, let maximumAnswerSeconds {
            let words = [answerSecondsP50, answerSecondsP99, maximumAnswerSeconds].map {
                Duration.seconds($0).inMilliseconds
            }
            clauses.append("response times: median \(words[0]), 99 % \(words[1]), maximum \(words[2])")
        }
        if let maximumLagSeconds, areMany {
            clauses.append("no fix read more than \(Duration.seconds(maximumLagSeconds).inMilliseconds) late")
        }
        if let maximumWaitSeconds {
            clauses.append("no update waited longer than \(Duration.seconds(maximumWaitSeconds).inMilliseconds)")
        }
        if let failures = RequestFigures.list(of: failures) { clauses.append("failed: \(failures)") }
        return clauses.joined(separator: "; ") + "."
    }
}

/// The cost of an hour of driving, in requests and bytes.
struct HourlyCost: Encodable {
    let requestsPerHour: Double
    let bytesPerHour: Double
    /// The number of bytes written to the disk per hour; `nil` for many vehicles and for an outbox in memory.
    let bytesWrittenPerHour: Double?

    init(_ counts: ReplayCounts, bytesWritten: Int64, driven: Duration) {
        let hours = driven / .seconds(3600)
        requestsPerHour = (Double(counts.requests) / hours).rounded()
        bytesPerHour = (Double(counts.bytesSent + counts.bytesReceived) / hours).rounded()
        bytesWrittenPerHour = bytesWritten > 0 ? (Double(bytesWritten) / hours).rounded() : nil
    }

    var text: String {
        let written = bytesWrittenPerHour.map { "; \(Int($0 / 1000)) kB written to the disk" } ?? ""
        return "\nper hour of driving: \(Int(requestsPerHour).counted("request")), \(Int(bytesPerHour / 1000)) kB"
            + written
    }
}

/// The errors that a follower of the vehicle sees, because Fleet Engine gets only the updates and not every fix.
struct ReplayErrors: Encodable {
    /// The distance in metres between the position that a follower sees and the fix: median, 95th percentile and
    /// maximum.
    let liveErrorMetersP50, liveErrorMetersP95, greatestLiveErrorMeters: Double?
    /// The distance in metres between the fixes and the reported track: 95th percentile and maximum.
    let trackErrorMetersP95, greatestTrackErrorMeters: Double?

    init(_ errors: FollowerErrors) {
        liveErrorMetersP50 = Self.quantile(0.5, of: errors.live)
        liveErrorMetersP95 = Self.quantile(0.95, of: errors.live)
        greatestLiveErrorMeters = Self.quantile(1, of: errors.live)
        trackErrorMetersP95 = Self.quantile(0.95, of: errors.track)
        greatestTrackErrorMeters = Self.quantile(1, of: errors.track)
    }

    /// Returns the quantile of the errors for `share`, in metres, rounded to a tenth.
    private static func quantile(_ share: Double, of errors: Distribution) -> Double? {
        errors.quantile(share).map { ($0 * 10).rounded() / 10 }
    }

    var text: String {
        guard let liveErrorMetersP50, let liveErrorMetersP95, let greatestLiveErrorMeters else { return "" }
        var words =
            "\na follower is within \(Self.distanceText(liveErrorMetersP50)) of the vehicle 50 % of the time, "
            + "within \(Self.distanceText(liveErrorMetersP95)) 95 % of the time, and at worst \(Self.distanceText(greatestLiveErrorMeters)) off"
        if let trackErrorMetersP95, let greatestTrackErrorMeters {
            words +=
                "; the reported track is within \(Self.distanceText(trackErrorMetersP95)) of 95 % of the fixes, "
                + "and at worst \(Self.distanceText(greatestTrackErrorMeters)) off"
        }
        return words
    }

    private static func distanceText(_ meters: Double) -> String {
        "\(FigureText.decimal(meters, places: meters < 10 ? 1 : 0)) m"
    }
}

extension Duration {
    /// The duration in milliseconds, such as `3.1 ms` or `420 ms`.
    var inMilliseconds: String {
        let milliseconds = self / .milliseconds(1)
        return "\(FigureText.decimal(milliseconds, places: milliseconds < 10 ? 1 : 0)) ms"
    }
}
