import Conditions
import HTTPService
import ReportedText
import Reporting

/// The set of metrics that a scrape returns.
package enum MetricsProfile: String, Sendable {
    case full
    /// At most 12 series, for a metered connection: `GET /metrics?profile=fleet`.
    case fleet

    /// The profile that `request` asks for; `nil` if there is none of that name.
    init?(_ request: ServedRequest) {
        let name = request.queryItems?.last { $0.name == "profile" }?.value
        self.init(rawValue: name ?? "full")
    }

    /// The families that the alerts of a fleet use.
    private static let fleetFamilies: Set = [
        "build_info", "uptime_seconds", "seconds_since_fix", "seconds_since_delivery", "private_mode", "updates",
        "oldest_pending_seconds", "token_seconds_left", "condition",
    ]

    fileprivate func includes(_ family: String) -> Bool { self == .full || Self.fleetFamilies.contains(family) }
}

extension StatusReport {
    /// Returns the metrics of `profile` in Prometheus's text format, version 0.0.4.
    package func metrics(_ profile: MetricsProfile = .full) -> String {
        var text = ""
        func family(
            _ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: any Numeric)]
        ) {
            guard profile.includes(name) else { return }
            if profile == .full { text += "# HELP waypost_\(name) \(help)\n" }
            text += "# TYPE waypost_\(name) \(kind)\n"
            for sample in samples {
                text += "waypost_\(name)\(sample.labels.isEmpty ? "" : "{\(sample.labels)}") \(sample.value)\n"
            }
        }
        func counter(_ name: String, _ help: String, _ value: any Numeric) {
            family(name, "counter", help, [("", value)])
        }
        /// Absent while the figure is not known.
        func gauge(_ name: String, _ help: String, _ value: (any Numeric)?) {
            if let value { family(name, "gauge", help, [("", value)]) }
        }
        family(
            "build_info", "gauge", "Always 1; which release reports which vehicle, by which configuration.",
            [
                (
                    "version=\"\(version.labelValue)\",vehicle=\"\(vehicleID.labelValue)\","
                        + "configuration=\"\(configuration?.hash ?? "")\"", 1
                )
            ])
        counter("updates_accepted_total", "Updates accepted since the outbox was created.", ledger.accepted)
        counter("updates_delivered_total", "Updates delivered since the outbox was created.", ledger.delivered)
        family(
            "updates", "gauge", "Updates in the outbox, by state.",
            [("state=\"pending\"", Int(ledger.pending)), ("state=\"quarantined\"", Int(ledger.quarantined))])
        family(
            "updates_evicted_total", "counter", "Updates evicted since the outbox was created, by reason.",
            evictions.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", Int($0.value.count)) })
        counter("fixes_total", "Fixes that were not rejected.", fixes)
        family(
            "fixes_rejected_total", "counter", "Fixes that were rejected, by reason.",
            rejectedFixes.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", $0.value) })
        family(
            "receiver_warnings_total", "counter", "Warnings of the receiver, by kind.",
            receiverWarnings.sorted { $0.key < $1.key }.map { ("kind=\"\($0.key)\"", $0.value) })
        counter("updates_not_stored_total", "Updates that the outbox could not store.", notStored)
        counter("updates_dropped_total", "Updates that were never stored, because memory was full.", dropped)
        counter("requests_total", "Requests sent to Fleet Engine.", requests)
        counter("retries_total", "Failed requests, except those that put delivery on hold.", retries)
        counter("token_fetches_total", "Tokens asked of the issuer.", tokenFetches)
        counter("sent_bytes_total", "Bytes of requests to Fleet Engine.", bytesSent)
        counter("received_bytes_total", "Bytes of answers from Fleet Engine.", bytesReceived)
        gauge("uptime_seconds", "Seconds since the start.", uptimeSeconds)
        // Absent while it isn't active: a series per code would cost a metered SIM more than all others.
        family(
            "condition", "gauge", "1 for each condition that is active; docs/conditions.md has the codes.",
            conditions.map { condition in
                let stage = condition.stage.rawValue
                let severity = condition.severity.rawValue
                return ("code=\"\(condition.code.labelValue)\",severity=\"\(severity)\",stage=\"\(stage)\"", 1)
            })
        gauge("private_mode", "1 while nothing is told of where the vehicle is.", privateSeconds == nil ? 0 : 1)
        gauge("seconds_since_fix", "Seconds since the last fix that was not rejected.", receiver.secondsSinceFix)
        gauge("satellites_used", "Satellites that the position is made of.", receiver.satellitesUsed)
        gauge("satellites_in_view", "Satellites that the receiver sees.", receiver.satellitesInView)
        gauge("hdop", "Horizontal dilution of precision of the last fix; 1 is good.", receiver.hdop)
        gauge("accuracy_meters", "Radius that holds the true position 68 times of 100.", receiver.accuracyMeters)
        gauge("seconds_since_delivery", "Seconds since the last delivery.", delivery.secondsSinceDelivery)
        if profile == .full, let deliveryDelays { text += deliveryDelays.metrics }
        if let outbox {
            gauge("outbox_bytes", "Bytes of the outbox's database that are in use.", outbox.usedBytes)
            gauge("outbox_maximum_bytes", "Bytes in use near which pending updates are thinned.", outbox.maximumBytes)
            gauge(
                "oldest_pending_seconds", "Age of the oldest pending update by its time of fix; 0 while none is.",
                outbox.oldestPendingSeconds ?? (ledger.pending == 0 ? 0 : nil))
        }
        gauge("disk_free_bytes", "Bytes that are free where the outbox lies.", host?.freeDiskBytes)
        gauge("resident_memory_bytes", "Memory of the service.", host?.residentBytes)
        gauge("clock_offset_seconds", "Seconds by which the host's clock is ahead.", clockOffsetSeconds)
        gauge("token_seconds_left", "Seconds for which the token in hand is used; 0 without one.", tokenSecondsLeft)
        gauge(
            "seconds_since_token_rejection", "Seconds since no token was given, or one was not accepted.",
            token?.lastRejectionSecondsAgo)
        family(
            "stage_bypasses_total", "counter", "How often a stalled stage was bypassed, by stage.",
            Stage.allCases.map { ("stage=\"\($0.rawValue)\"", stageBypasses[$0.rawValue] ?? 0) })
        gauge("healthy", "1 while nothing needs attention.", isHealthy ? 1 : 0)
        return text
    }

    /// Its name in Fleet Engine without the parts that are the whole fleet's.
    private var vehicleID: String { vehicle.split(separator: "/").last.map(String.init) ?? vehicle }
    private var tokenSecondsLeft: Int? { token.map { $0.secondsLeft ?? 0 } }
}

extension DeliveryDelays {
    /// As a histogram of Prometheus, whose buckets count all that is below their ends.
    fileprivate var metrics: String {
        let name = "waypost_delivery_delay_seconds"
        var text = "# HELP \(name) From the arrival of a live fix to its acknowledgement.\n# TYPE \(name) histogram\n"
        var count = 0
        for (end, more) in zip(Self.bounds.map(String.init) + ["+Inf"], counts) {
            count += more
            text += "\(name)_bucket{le=\"\(end)\"} \(count)\n"
        }
        return text + "\(name)_sum \(Double(sumMilliseconds) / 1000)\n\(name)_count \(count)\n"
    }
}

extension String {
    /// Fit to stand in quotes behind a label.
    fileprivate var labelValue: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
