import GNSS
import LocationReporting

extension StatusReport {
    /// The report in Prometheus's text format, version 0.0.4.
    package var metrics: String {
        var text = ""
        func family(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
            text += "# HELP waypost_\(name) \(help)\n# TYPE waypost_\(name) \(kind)\n"
            for sample in samples {
                text += "waypost_\(name)\(sample.labels.isEmpty ? "" : "{\(sample.labels)}") \(sample.value)\n"
            }
        }
        family(
            "updates_accepted_total", "counter", "Updates accepted since the outbox was created.",
            [("", Int(ledger.accepted))])
        family(
            "updates_delivered_total", "counter", "Updates delivered since the outbox was created.",
            [("", Int(ledger.delivered))])
        family(
            "updates", "gauge", "Updates in the outbox, by state.",
            [("state=\"pending\"", Int(ledger.pending)), ("state=\"quarantined\"", Int(ledger.quarantined))])
        family(
            "updates_evicted_total", "counter", "Updates evicted since the outbox was created, by reason.",
            evictions.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", Int($0.value.count)) })
        family("fixes_total", "counter", "Fixes that were not rejected.", [("", fixes)])
        family(
            "fixes_refused_total", "counter", "Fixes that were rejected, by reason.",
            refusedFixes.sorted { $0.key < $1.key }.map { ("reason=\"\($0.key)\"", $0.value) })
        family(
            "receiver_warnings_total", "counter", "Warnings of the receiver, by kind.",
            receiverWarnings.sorted { $0.key < $1.key }.map { ("kind=\"\($0.key)\"", $0.value) })
        family("updates_not_stored_total", "counter", "Updates that the outbox could not store.", [("", notStored)])
        family("requests_total", "counter", "Requests sent to Fleet Engine.", [("", requests)])
        family("retries_total", "counter", "Failed requests, except those that put delivery on hold.", [("", retries)])
        family("token_fetches_total", "counter", "Tokens asked of the issuer.", [("", tokenFetches)])
        family("sent_bytes_total", "counter", "Bytes of requests to Fleet Engine.", [("", bytesSent)])
        family("received_bytes_total", "counter", "Bytes of answers from Fleet Engine.", [("", bytesReceived)])
        family("uptime_seconds", "gauge", "Seconds since the start.", [("", uptimeSeconds)])
        family(
            "receiver_state", "gauge", "1 for the state that the receiver is in.",
            ReceiverState.Kind.allCases.map { ("state=\"\($0.rawValue)\"", $0.rawValue == receiver.kind ? 1 : 0) })
        if let seconds = receiver.secondsSinceFix {
            family("seconds_since_fix", "gauge", "Seconds since the last fix that was not rejected.", [("", seconds)])
        }
        if let seconds = delivery.secondsSinceDelivery {
            family("seconds_since_delivery", "gauge", "Seconds since the last delivery.", [("", seconds)])
        }
        family(
            "repairs_total", "counter", "How often a stalled stage was bypassed, by stage.",
            Stage.allCases.map { ("stage=\"\($0.rawValue)\"", repairs[$0.rawValue] ?? 0) })
        family(
            "last_run_stalled", "gauge", "1 for the stage whose stall ended the last run.",
            Stage.allCases.map { ("stage=\"\($0.rawValue)\"", lastStall?.stage == $0 ? 1 : 0) })
        family(
            "reload_rejected", "gauge", "1 when the last reload of the configuration was rejected.",
            [("", configuration?.problem == nil ? 0 : 1)])
        family("healthy", "gauge", "1 while nothing needs attention.", [("", isHealthy ? 1 : 0)])
        return text
    }
}
