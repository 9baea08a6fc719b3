import GNSSReceiver
import HTTPMessages
import ReportedText
import Reporting
import StrictJSON
import TrackDrawing
import Waypost

/// What a replay came to: for people as text, for machines as one JSON object.
struct ReplaySummary: Encodable {
    /// All that were read, whatever became of them.
    var fixes: Int
    /// Those that cannot be true, by reason.
    var rejectedFixes: [String: Int]
    /// Those of which nothing was told, as the vehicle was private.
    var withheldFixes: Int
    var accepted, delivered, pending, evicted, quarantined: Int64
    var tokenFetches: Int
    var requests: Int
    var retries: Int
    /// Updates that the outbox could not store.
    var notStored: Int
    var bytesSent: Int
    var bytesReceived: Int
    var seconds: Double
    /// How long the logs are that were played, of all vehicles together; gaps are skipped as they are in playing.
    var drivenSeconds: Double
    /// For an hour of driving; absent of less than a minute, and at full speed, when updates share requests.
    var requestsPerHour: Double?
    var bytesPerHour: Double?
    /// What its outbox wrote to the disk; absent, too, of many vehicles, and where it lies in memory.
    var bytesWrittenPerHour: Double?
    /// How far a follower was off at half of the fixes, at 95 of 100, and at most; absent of many vehicles.
    var liveErrorMetersP50, liveErrorMetersP95, greatestLiveErrorMeters: Double?
    /// The same of the track that was told, at 95 of 100 fixes and at most.
    var trackErrorMetersP95, greatestTrackErrorMeters: Double?
    var vehicles = 1
    /// What is to be said of the logs, as that their time goes back.
    var remarks: [String] = []
    var requestsPerSecond: Double
    /// How long half of the answers took at most, ninety-nine of a hundred, and all; `nil` without any.
    var answerSecondsP50, answerSecondsP99, longestAnswerSeconds: Double?
    /// Requests by what went wrong: a status, what kept the answer from coming, or that there was no token.
    var failures: [String: Int]
    /// How much too late a fix was read at most; `nil` unless they are read as they happen.
    var longestLagSeconds: Double?
    /// How long an update of many vehicles waited at most, those included that still do; `nil` of one vehicle.
    var longestWaitSeconds: Double?

    init(
        counts: DeliveryCounts, ledger: Ledger, duration: Duration, driven: Duration = .zero,
        at speed: ReplaySpeed = .times(1), requests figures: RequestFigures = .init(), errors: FollowerErrors? = nil,
        bytesWritten: Int64? = nil
    ) {
        (accepted, delivered, pending) = (ledger.accepted, ledger.delivered, ledger.pending)
        (evicted, quarantined) = (ledger.evicted, ledger.quarantined)
        (fixes, rejectedFixes, withheldFixes) = (counts.fixesRead, counts.refusedFixes, counts.withheld)
        (tokenFetches, requests, retries) = (counts.tokenFetches, counts.requests, counts.retries)
        notStored = counts.notStored
        (bytesSent, bytesReceived) = (counts.traffic.bytesSent, counts.traffic.bytesReceived)
        seconds = (duration / .milliseconds(1)).rounded() / 1000
        requestsPerSecond = (Double(counts.requests) / max(seconds, 0.001) * 10).rounded() / 10
        (answerSecondsP50, answerSecondsP99) = (
            figures.time(of: 0.5).map(Self.seconds), figures.time(of: 0.99).map(Self.seconds)
        )
        longestAnswerSeconds = figures.answers > 0 ? Self.seconds(figures.longestAnswer) : nil
        (failures, longestLagSeconds) = (figures.failures, figures.longestLag.map(Self.seconds))
        drivenSeconds = (driven / .milliseconds(1)).rounded() / 1000
        if let live = errors?.live, let track = errors?.track {
            (liveErrorMetersP50, liveErrorMetersP95) = (Self.meters(live, 0.5), Self.meters(live, 0.95))
            (greatestLiveErrorMeters, trackErrorMetersP95) = (Self.meters(live, 1), Self.meters(track, 0.95))
            greatestTrackErrorMeters = Self.meters(track, 1)
        }
        guard driven >= .seconds(60), speed != .maximum else { return }
        let hours = driven / .seconds(3600)
        requestsPerHour = (Double(requests) / hours).rounded()
        bytesPerHour = (Double(bytesSent + bytesReceived) / hours).rounded()
        if let bytesWritten, bytesWritten > 0 { bytesWrittenPerHour = (Double(bytesWritten) / hours).rounded() }
    }

    /// To a tenth of a millisecond.
    static func seconds(_ duration: Duration) -> Double { (duration / .microseconds(100)).rounded() / 10_000 }

    /// Within how many metres so large a share of the errors is, to a tenth.
    private static func meters(_ errors: Distribution, _ share: Double) -> Double? {
        errors.value(of: share).map { ($0 * 10).rounded() / 10 }
    }

    /// Whether everything accepted was delivered, something of what was read was accepted, and the account is right.
    var isComplete: Bool { accepted == delivered && (accepted > 0 || fixes == 0) && balances }

    private var balances: Bool { accepted == delivered + pending + evicted + quarantined }

    var json: String { (try? JSONValue(encoding: self).text) ?? "{}" }  // numbers always encode

    /// For people: the account and its verdict.
    var text: String {
        let missing = accepted - delivered
        let verdict =
            switch (isComplete, accepted) {
            case (true, 0): "No update was accepted, so none had to be delivered."
            case (true, 1): "The accepted update was delivered."
            case (false, 0) where notStored > 0:
                "No update could be stored: \(notStored.counted("position")) went out from memory, or not at all; the messages "
                    + "above say why."
            case (false, 0) where withheldFixes == fixes:
                "No update was accepted: the vehicle is private, and nothing is told of where it is (vehicle.privateWhen, "
                    + "reporting.privateZones)."
            case (false, 0): "No update was accepted, though fixes were read; the messages above say why."
            case (true, _): "All \(accepted.grouped) accepted updates were delivered."
            case (false, _):
                "\(missing.grouped) of \(accepted.counted("accepted update")) \(missing == 1 ? "was" : "were") not delivered: "
                    + "\(pending) pending, \(evicted) evicted, \(quarantined) quarantined."
            }
        return "\(figures)\n\(verdict)"
    }

    /// The fixes that were not reported for what they are.
    private var omissions: String {
        let rejected = rejectedFixes.values.reduce(0, +)
        let reasons = rejectedFixes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        let clauses = [
            rejected > 0 ? "\(rejected.counted("fix", "fixes")) rejected (\(reasons.joined(separator: ", ")))" : nil,
            withheldFixes > 0 ? "\(withheldFixes.counted("fix", "fixes")) withheld, as the vehicle is private" : nil,
        ].compactMap(\.self)
        return clauses.isEmpty ? "" : "\nnot reported: \(clauses.joined(separator: "; "))"
    }

    private var rates: String {
        guard let requestsPerHour, let bytesPerHour else { return "" }
        let written = bytesWrittenPerHour.map { "; \(Int($0 / 1000)) kB written to the disk" } ?? ""
        return "\nan hour of driving: \(Int(requestsPerHour).counted("request")), \(Int(bytesPerHour / 1000)) kB"
            + written
    }

    /// How well who hears of the updates alone knows where the vehicle is, and afterwards where it was.
    private var errors: String {
        guard let liveErrorMetersP50, let liveErrorMetersP95, let greatestLiveErrorMeters else { return "" }
        var words =
            "\na follower is within \(Self.words(liveErrorMetersP50)) of the vehicle half of the time, "
            + "within \(Self.words(liveErrorMetersP95)) 95 % of it, at worst \(Self.words(greatestLiveErrorMeters)) off"
        if let trackErrorMetersP95, let greatestTrackErrorMeters {
            words +=
                "; the told track within \(Self.words(trackErrorMetersP95)), "
                + "at worst \(Self.words(greatestTrackErrorMeters))"
        }
        return words
    }

    private static func words(_ meters: Double) -> String { "\(FigureText.decimal(meters, meters < 10 ? 1 : 0)) m" }

    /// The account alone, of a replay that was cut off.
    var figures: String {
        let account = balances ? "balances" : "DOES NOT BALANCE; please report this with the outbox file"
        return """
            \(fixes.counted("fix", "fixes")) read in \(seconds) s; \(requests.counted("request")), \(retries) of them retried; \
            \(tokenFetches.counted("token request")); \(bytesSent) bytes sent, \(bytesReceived) received.\(omissions)\(remarks.map { "\n\($0)" }.joined())\(rates)\(errors)
            \(pace)
            ledger: accepted \(accepted) = delivered \(delivered) + pending \(pending) + evicted \(evicted) \
            + quarantined \(quarantined), which \(account)
            """
    }

    /// How fast requests went, how long their answers took, and what went wrong.
    private var pace: String {
        var clauses = [
            vehicles > 1 ? vehicles.counted("vehicle") : nil,
            "\(FigureText.decimal(requestsPerSecond, 1)) requests a second",
        ].compactMap(\.self)
        if let answerSecondsP50, let answerSecondsP99, let longestAnswerSeconds {
            let words = [answerSecondsP50, answerSecondsP99, longestAnswerSeconds].map {
                Duration.seconds($0).inMilliseconds
            }
            clauses.append("half answered within \(words[0]), 99 of 100 within \(words[1]), all within \(words[2])")
        }
        if let longestLagSeconds, vehicles > 1 {
            clauses.append("no fix read more than \(Duration.seconds(longestLagSeconds).inMilliseconds) late")
        }
        if let longestWaitSeconds {
            clauses.append("no update waited longer than \(Duration.seconds(longestWaitSeconds).inMilliseconds)")
        }
        if let failures = RequestFigures.words(for: failures) { clauses.append("failed: \(failures)") }
        return clauses.joined(separator: "; ") + "."
    }
}

extension Duration {
    /// As `3.1 ms`, `420 ms`.
    var inMilliseconds: String {
        let milliseconds = self / .milliseconds(1)
        return "\(FigureText.decimal(milliseconds, milliseconds < 10 ? 1 : 0)) ms"
    }
}
