/// The code of a condition that an operator should know about. Each code has one remedy and one alert.
///
/// The raw values must not change, because the log, `/status`, the metrics and the alerts use them.
package enum ConditionCode: String, Sendable, Hashable, Codable, CaseIterable {
    // The receiver and its fixes.
    case receiverUnavailable = "receiver_unavailable"
    case noPosition = "no_position"
    case fixesRejected = "fixes_rejected"
    case fixTimesRejected = "fix_times_rejected"
    case logEnded = "log_ended"
    case antennaFault = "antenna_fault"
    case foreignDatum = "foreign_datum"
    case sentencesDropped = "sentences_dropped"
    case weekRolloverRepaired = "week_rollover_repaired"
    case dateTooEarly = "date_too_early"
    case datedByHost = "dated_by_host"
    case motionContradicted = "motion_contradicted"
    case simulatedPositions = "simulated_positions"
    case zeroPosition = "zero_position"
    case utf16Text = "utf16_text"
    case localTime = "local_time"
    case positionsUnreadable = "positions_unreadable"
    case receiverTimeWrong = "receiver_time_wrong"

    // The outbox.
    case diskFull = "disk_full"
    case outboxInUse = "outbox_in_use"
    case outboxBusy = "outbox_busy"
    case outboxUnusable = "outbox_unusable"
    case outboxDamaged = "outbox_damaged"
    case outboxTooNew = "outbox_too_new"
    case outboxTooOld = "outbox_too_old"
    case outboxLogRemoved = "outbox_log_removed"
    case outboxLogTooLong = "outbox_log_too_long"
    case outboxFileUnwritable = "outbox_file_unwritable"
    case outboxNearlyFull = "outbox_nearly_full"
    case updatesThinned = "updates_thinned"
    case updatesLost = "updates_lost"
    case updatesDropped = "updates_dropped"
    case updatesQuarantined = "updates_quarantined"

    // The token.
    case tokenEndpointUnreachable = "token_endpoint_unreachable"
    case tokenEndpointTLS = "token_endpoint_tls"
    case tokenRequestRejected = "token_request_rejected"
    case tokenUnusable = "token_unusable"
    case tokenClaimsWrong = "token_claims_wrong"
    case tokenSourceFailed = "token_source_failed"
    case tokenRenewalFailing = "token_renewal_failing"
    case tokenSupplyAtRisk = "token_supply_at_risk"
    case tokenRejected = "token_rejected"
    case tokenNotPermitted = "token_not_permitted"

    // Delivery.
    case networkUnavailable = "network_unavailable"
    case tlsFailed = "tls_failed"
    case certificateOutsideItsTime = "certificate_outside_its_time"
    case certificateUntrusted = "certificate_untrusted"
    case intercepted = "intercepted"
    case requestTooLarge = "request_too_large"
    case throttled = "throttled"
    case serviceBusy = "service_busy"
    case gatewayError = "gateway_error"
    case serviceRefuses = "service_refuses"
    case vehicleUnknown = "vehicle_unknown"
    case apiDisabled = "api_disabled"
    case billingDisabled = "billing_disabled"
    case updateRejected = "update_rejected"
    case everythingRejected = "everything_rejected"
    case nothingDelivered = "nothing_delivered"
    case stateNotSent = "state_not_sent"

    // The service and its host.
    case hostClockWrong = "host_clock_wrong"
    case statusAddressUnavailable = "status_address_unavailable"
    case configurationExposed = "configuration_exposed"
    case systemInterfaceUnavailable = "system_interface_unavailable"
    case privateModeMisconfigured = "private_mode_misconfigured"
    case recordingStopped = "recording_stopped"
    case reloadRejected = "reload_rejected"
    case lastRunStalled = "last_run_stalled"
    case internalError = "internal_error"
    case privateMode = "private_mode"
}

extension ConditionCode {
    /// The severity of a condition.
    package enum Severity: String, Sendable, Hashable, Codable, CaseIterable {
        /// Worth knowing, but nothing has to be done.
        case info
        /// Reporting is degraded, or the condition ends by itself.
        case warning
        /// Positions don't arrive or aren't stored until someone acts.
        case error
    }

    /// The part of the pipeline that a condition belongs to. The cases are in the order in which a position passes
    /// through these parts.
    package enum Stage: String, Sendable, Hashable, Codable, CaseIterable {
        case receiver, outbox, token, delivery, service
    }

    /// The catalog's entry for a code.
    struct Entry: Sendable {
        let severity: Severity
        let title: String
        /// The remedy, as an imperative without a full stop.
        let remedy: String
        var visibleAfter = Duration.zero

        init(_ severity: Severity, _ title: String, _ remedy: String, visibleAfter: Duration = .zero) {
            self.severity = severity
            self.title = title
            self.remedy = remedy
            self.visibleAfter = visibleAfter
        }
    }

    package var stage: Stage { Self.catalog[self].stage }
    package var severity: Severity { Self.catalog[self].entry.severity }
    /// A short description of the problem.
    package var title: String { Self.catalog[self].entry.title }
    package var remedy: String { Self.catalog[self].entry.remedy }
    /// How long a condition must last before it is shown and logged.
    package var visibleAfter: Duration { Self.catalog[self].entry.visibleAfter }

    private static let catalog = Catalog()

    /// Every code with its stage and entry.
    private struct Catalog: Sendable {
        private let entries: [ConditionCode: (stage: Stage, entry: Entry)]

        init() {
            var entries: [ConditionCode: (stage: Stage, entry: Entry)] = [:]
            for stage in Stage.allCases {
                for (code, entry) in stage.entries { entries[code] = (stage, entry) }
            }
            self.entries = entries
        }

        subscript(code: ConditionCode) -> (stage: Stage, entry: Entry) {
            guard let found = entries[code] else { preconditionFailure("\(code) isn't in the catalog") }
            return found
        }
    }
}
