import Conditions
import HTTPService
import ReportedText
import Reporting

/// A named selection of metrics. A request states the selection to return.
package enum MetricsProfile: String, Sendable {
    case full
    /// At most 12 time series, for a metered connection. The request is `GET /metrics?profile=fleet`.
    case fleet

    /// Creates the profile that `request` names, or the full profile if it names none. The result is `nil` if the name
    /// is unknown.
    init?(_ request: ServedRequest) {
        let name = request.queryItems?.last { $0.name == "profile" }?.value
        self.init(rawValue: name ?? "full")
    }

    /// The metric families that a fleet's alerts need.
    private static let fleetFamilies: Set = [
        "build_info", "uptime_seconds", "seconds_since_fix", "seconds_since_delivery", "private_mode", "updates",
        "oldest_pending_seconds", "token_seconds_left", "condition",
    ]

    fileprivate func includes(_ family: String) -> Bool { self == .full || Self.fleetFamilies.contains(family) }

    /// The maximum number of conditions; `nil` if all are exported. The other families of a fleet have nine series.
    fileprivate var maximumConditions: Int? { self == .full ? nil : 3 }
}

/// A metric family with its samples.
private struct MetricFamily {
    /// A value with the labels that identify it, such as `state="pending"`.
    struct Sample {
        var labels = ""
        let value: any Numeric
    }

    enum Kind: String { case counter, gauge }

    let name: String
    let kind: Kind
    let help: String
    let samples: [Sample]
    /// Whether the family has at most one sample, which has no labels.
    let isSingle: Bool

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample], isSingle: Bool = false) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
        self.isSingle = isSingle
    }

    static func counter(_ name: String, _ help: String, _ value: any Numeric) -> Self {
        Self(name, .counter, help, [Sample(value: value)], isSingle: true)
    }

    /// Returns a gauge without labels. If `value` is `nil`, the gauge isn't exported.
    static func gauge(_ name: String, _ help: String, _ value: (any Numeric)?) -> Self {
        Self(name, .gauge, help, value.map { [Sample(value: $0)] } ?? [], isSingle: true)
    }

    /// Returns a counter with one sample for each key of `counts`, which is the value of `label`.
    static func counts(_ name: String, _ help: String, by label: String, _ counts: [String: some Numeric]) -> Self {
        let samples = counts.sorted { $0.key < $1.key }
            .map { Sample(labels: "\(label)=\"\($0.key)\"", value: $0.value) }
        return Self(name, .counter, help, samples)
    }

    /// Whether the family isn't exported, because its only value is unknown. A family with labels is always exported,
    /// even without samples.
    var isAbsent: Bool { isSingle && samples.isEmpty }

    func text(for profile: MetricsProfile) -> String {
        var text = profile == .full ? "# HELP waypost_\(name) \(help)\n" : ""
        text += "# TYPE waypost_\(name) \(kind.rawValue)\n"
        for sample in samples {
            text += "waypost_\(name)\(sample.labels.isEmpty ? "" : "{\(sample.labels)}") \(sample.value)\n"
        }
        return text
    }
}

extension StatusReport {
    /// Returns the metrics of `profile` in Prometheus's text format, version 0.0.4.
    package func metrics(_ profile: MetricsProfile = .full) -> String {
        let families = serviceMetrics(profile) + updateMetrics + receiverMetrics + deliveryMetrics + hostMetrics
        let text = families.filter { !$0.isAbsent && profile.includes($0.name) }.map { $0.text(for: profile) }.joined()
        return profile == .full ? text + counts.deliveryDelays.metrics : text
    }

    private func serviceMetrics(_ profile: MetricsProfile) -> [MetricFamily] {
        // Only the last component of the vehicle's name is exported, because the others are the same for the whole
        // fleet.
        let vehicleID = vehicle.split(separator: "/").last.map(String.init) ?? vehicle
        let build = "version=\"\(version.escapedLabelValue)\",vehicle=\"\(vehicleID.escapedLabelValue)\""
        let hash = configuration?.hash ?? ""
        // Only active conditions are exported. A series for each condition code would cost more on a metered SIM than
        // all other series together.
        var seen: Set<String> = []
        let codes = conditions.filter { seen.insert($0.code).inserted }
        let errorsFirst = codes.filter { $0.severity == .error } + codes.filter { $0.severity != .error }
        let active = errorsFirst.prefix(profile.maximumConditions ?? .max).map { condition in
            let severity = condition.severity.rawValue
            return MetricFamily.Sample(
                labels: "code=\"\(condition.code.escapedLabelValue)\",severity=\"\(severity)\","
                    + "stage=\"\(condition.stage.rawValue)\"", value: 1)
        }
        let bypasses = Dictionary(
            uniqueKeysWithValues: Stage.allCases.map { ($0.rawValue, counts.stageBypasses[$0.rawValue] ?? 0) })
        return [
            MetricFamily(
                "build_info", .gauge, "Always 1; the labels are the release, the vehicle and the configuration's hash.",
                [MetricFamily.Sample(labels: "\(build),configuration=\"\(hash)\"", value: 1)]),
            .gauge("uptime_seconds", "Seconds since the start.", uptimeSeconds),
            .gauge("healthy", "1 while nothing needs attention.", isHealthy ? 1 : 0),
            MetricFamily(
                "condition", .gauge, "1 for each active condition; docs/conditions.md lists the codes.", active),
            .gauge("private_mode", "1 while the vehicle's position isn't disclosed.", privateSeconds == nil ? 0 : 1),
            .counts("stage_bypasses_total", "Bypasses of stalled stages.", by: "stage", bypasses),
        ]
    }

    private var updateMetrics: [MetricFamily] {
        let samples = [
            MetricFamily.Sample(labels: "state=\"pending\"", value: ledger.pending),
            MetricFamily.Sample(labels: "state=\"quarantined\"", value: ledger.quarantined),
        ]
        let oldest = outbox.oldestPendingSeconds ?? (ledger.pending == 0 ? 0 : nil)
        return [
            .counter("updates_accepted_total", "Updates accepted since the outbox was created.", ledger.accepted),
            .counter("updates_delivered_total", "Updates delivered since the outbox was created.", ledger.delivered),
            MetricFamily("updates", .gauge, "Updates in the outbox, by state.", samples),
            .counts(
                "updates_evicted_total", "Updates evicted since the outbox was created.", by: "reason",
                outbox.evictions.mapValues(\.count)),
            .counter("updates_not_stored_total", "Updates that the outbox could not store.", counts.notStored),
            .counter(
                "updates_dropped_total", "Updates that were never stored, because memory was full.", counts.dropped),
            .gauge("outbox_bytes", "Bytes of the outbox's database that are in use.", outbox.usedBytes),
            .gauge(
                "outbox_maximum_bytes", "Limit on the bytes in use; near the limit, pending updates are thinned.",
                outbox.maximumBytes),
            .gauge(
                "oldest_pending_seconds", "Age of the oldest pending update by its time of fix; 0 if there is none.",
                outbox.usedBytes == nil ? nil : oldest),
        ]
    }

    private var receiverMetrics: [MetricFamily] {
        [
            .counter("fixes_total", "Fixes that were not rejected.", counts.fixes),
            .counts("fixes_rejected_total", "Fixes that were rejected.", by: "reason", counts.rejectedFixes),
            .counts("receiver_warnings_total", "Warnings about the receiver.", by: "kind", counts.receiverWarnings),
            .gauge("seconds_since_fix", "Seconds since the last fix that was not rejected.", receiver.secondsSinceFix),
            .gauge("satellites_used", "Satellites used for the position.", receiver.satellitesUsed),
            .gauge("satellites_in_view", "Satellites that the receiver sees.", receiver.satellitesInView),
            .gauge("hdop", "Horizontal dilution of precision of the last fix; 1 is good.", receiver.hdop),
            .gauge(
                "accuracy_meters", "Radius that contains the true position with 68 % probability.",
                receiver.accuracyMeters),
        ]
    }

    private var deliveryMetrics: [MetricFamily] {
        [
            .counter("requests_total", "Requests sent to Fleet Engine.", counts.requests),
            .counter("retries_total", "Failed requests, except those that put delivery on hold.", counts.retries),
            .counter("token_fetches_total", "Tokens requested from the issuer.", counts.tokenFetches),
            .counter("sent_bytes_total", "Bytes of requests to Fleet Engine.", counts.bytesSent),
            .counter("received_bytes_total", "Bytes of answers from Fleet Engine.", counts.bytesReceived),
            .gauge("seconds_since_delivery", "Seconds since the last delivery.", delivery.secondsSinceDelivery),
            .gauge(
                "token_seconds_left", "Seconds until the current token is no longer used; 0 without a token.",
                token.map { $0.secondsLeft ?? 0 }),
            .gauge(
                "seconds_since_token_rejection", "Seconds since a token was last denied or rejected.",
                token?.lastRejectionSecondsAgo),
        ]
    }

    private var hostMetrics: [MetricFamily] {
        [
            .gauge("disk_free_bytes", "Free bytes on the outbox's disk.", host.freeDiskBytes),
            .gauge("resident_memory_bytes", "Memory of the service.", host.residentBytes),
            .gauge(
                "clock_offset_seconds", "Seconds by which the host's clock is ahead.", host.clockOffsetSeconds),
        ]
    }
}

extension DeliveryDelays {
    /// The delays as a Prometheus histogram. Its buckets are cumulative.
    fileprivate var metrics: String {
        let name = "waypost_delivery_delay_seconds"
        var text =
            "# HELP \(name) Time from the arrival of a live fix to its acknowledgement.\n# TYPE \(name) "
            + "histogram\n"
        var count = 0
        for (end, more) in zip(Self.bounds.map(String.init) + ["+Inf"], counts) {
            count += more
            text += "\(name)_bucket{le=\"\(end)\"} \(count)\n"
        }
        return text + "\(name)_sum \(Double(sumMilliseconds) / 1000)\n\(name)_count \(count)\n"
    }
}

extension String {
    /// The text, escaped for use in the quotes of a label's value.
    fileprivate var escapedLabelValue: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
