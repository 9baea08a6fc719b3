extension ConditionCode.Stage {
    /// The catalog of this stage: severity, title and remedy of each code.
    var entries: [ConditionCode: ConditionCode.Entry] {
        switch self {
        case .receiver: ConditionCode.receiver
        case .outbox: ConditionCode.outbox
        case .token: ConditionCode.token
        case .delivery: ConditionCode.delivery
        case .service: ConditionCode.service
        }
    }
}

extension ConditionCode {
    /// The time without a fix after which `noPosition` is shown. A receiver sends about one fix per second, and needs
    /// up to a minute for the first one.
    private static let maximumTimeWithoutFix = Duration.seconds(90)
    /// The time without a delivery after which `nothingDelivered` is shown. An update or a heartbeat is sent at least
    /// every minute, and two in a row may fail.
    private static let maximumTimeWithoutDelivery = Duration.seconds(180)

    fileprivate static let receiver: [Self: Entry] = [
        .receiverUnavailable: Entry(
            .error, "receiver unavailable",
            "check the receiver's plug, power and cable, and the configuration's receiver section"),
        .noPosition: Entry(
            .warning, "no position",
            "check the antenna's plug, cable and view of the sky, unless the vehicle is under a roof",
            visibleAfter: maximumTimeWithoutFix),
        .fixesRejected: Entry(.warning, "fixes rejected", "check the receiver and its antenna"),
        .fixTimesRejected: Entry(
            .warning, "fix times rejected", "compare the receiver's date with this host's clock"),
        .logEnded: Entry(
            .info, "log ended", "to wait for more data, set receiver.follow to true; with waypost replay, add --follow"),
        .antennaFault: Entry(.warning, "antenna line faulty", "check the antenna, its plug and its cable"),
        .foreignDatum: Entry(.warning, "datum isn't WGS 84", "set the receiver's datum to W84"),
        .sentencesDropped: Entry(
            .warning, "receiver drops sentences", "raise the receiver's baud rate, or turn off some of its sentences"),
        .weekRolloverRepaired: Entry(.info, "receiver's dates corrected", "update the receiver's firmware"),
        .dateTooEarly: Entry(
            .warning, "receiver's dates in the past",
            "wait a few minutes; if the dates stay wrong, update the receiver's firmware"),
        .datedByHost: Entry(.info, "fixes dated by this host's clock", "turn on RMC or ZDA in the receiver"),
        .motionContradicted: Entry(
            .warning, "speed or course contradicts the track", "check the receiver's settings and firmware"),
        .simulatedPositions: Entry(
            .warning, "simulated positions not used", "turn off simulated and manual positions in the receiver"),
        .zeroPosition: Entry(.warning, "position 0, 0 not used", "check where the device gets its position from"),
        .utf16Text: Entry(
            .warning, "input is UTF-16 text",
            "convert the input to plain text, for example with iconv -f UTF-16 -t ASCII"),
        .localTime: Entry(
            .warning, "sentences in local time", "set the device that writes the sentences to UTC"),
        .positionsUnreadable: Entry(
            .warning, "position sentences unreadable",
            "record a minute of the receiver's output and run waypost fixes --explain"),
        .receiverTimeWrong: Entry(
            .warning, "receiver's time is wrong",
            "turn the receiver off and on; if that doesn't help, update its firmware or replace the receiver"),
    ]

    fileprivate static let outbox: [Self: Entry] = [
        .diskFull: Entry(.error, "disk full", "free up space on the disk that contains outbox.path"),
        .outboxInUse: Entry(
            .error, "outbox in use", "stop the other process, or give each process its own outbox.path"),
        .outboxBusy: Entry(.error, "outbox locked", "stop the program that has locked the outbox's file"),
        .outboxUnusable: Entry(
            .error, "outbox unusable", "check the directory of outbox.path: its owner, its mode and its disk (dmesg)"),
        .outboxDamaged: Entry(.error, "outbox damaged", "check the disk (dmesg), and replace it if it is failing"),
        .outboxTooNew: Entry(
            .error, "outbox written by a newer release",
            "install the newer release again, or move the outbox's files away"),
        .outboxTooOld: Entry(
            .warning, "outbox rolled back to an older state", "restore or remove all files of the outbox together"),
        .outboxLogRemoved: Entry(
            .warning, "outbox's write-ahead log removed",
            "find out what removed it, and never remove only some of the outbox's files"),
        .outboxLogTooLong: Entry(
            .warning, "outbox's write-ahead log too long", "stop the program that keeps the outbox open"),
        .outboxFileUnwritable: Entry(
            .warning, "file next to the outbox not writable",
            "check the directory of outbox.path: its owner, its mode and its disk (dmesg)"),
        .outboxNearlyFull: Entry(
            .warning, "outbox nearly full", "find out why nothing is delivered, or raise outbox.maximumMegabytes"),
        .updatesThinned: Entry(
            .warning, "pending updates thinned", "find out why nothing is delivered, or raise outbox.maximumMegabytes"),
        .updatesLost: Entry(
            .error, "pending updates lost",
            "find out why nothing is delivered, or raise outbox.maximumMegabytes and maximumAgeDays"),
        .updatesDropped: Entry(.error, "unstored updates dropped", "fix the outbox (waypost why shows its condition)"),
        .updatesQuarantined: Entry(
            .warning, "updates quarantined", "run waypost outbox list, then requeue or discard the updates"),
    ]

    fileprivate static let token: [Self: Entry] = [
        .tokenEndpointUnreachable: Entry(
            .error, "token endpoint unavailable", "run waypost token, and check the network and the issuer"),
        .tokenEndpointTLS: Entry(
            .error, "no secure connection to the token issuer",
            "check the certificates (waypost check) and the clock"),
        .tokenRequestRejected: Entry(
            .error, "token request rejected by the issuer",
            "run waypost token, and correct the configuration's authorization section or enrol the vehicle in the backend"
        ),
        .tokenUnusable: Entry(
            .error, "token unusable", "run waypost token, and compare the answer with docs/token-endpoint.md"),
        .tokenClaimsWrong: Entry(
            .error, "token claims are wrong", "run waypost token, and correct the claims that the issuer signs"),
        .tokenSourceFailed: Entry(
            .error, "token source failed",
            "run waypost check, and correct the configuration's authorization section"),
        .tokenRenewalFailing: Entry(
            .warning, "token not renewed", "run waypost token to find the cause before the current token expires"),
        .tokenSupplyAtRisk: Entry(
            .warning, "token supply at risk", "run waypost token, and correct the issuer before its tokens fail"),
        .tokenRejected: Entry(
            .error, "token rejected by Fleet Engine",
            "sign tokens with a service account's key from the project in vehicle.providerId, and check the backend's clock"
        ),
        .tokenNotPermitted: Entry(
            .error, "token not permitted",
            "put this vehicle's id in the token (waypost token shows the token), sign as a service account with the driver role, or correct vehicle.providerId"
        ),
    ]

    fileprivate static let delivery: [Self: Entry] = [
        .networkUnavailable: Entry(
            .warning, "Fleet Engine unreachable",
            "wait for coverage; if that doesn't help, check the vehicle's network and upload.endpoint"),
        .tlsFailed: Entry(
            .warning, "TLS connection failed", "check that the port of upload.endpoint speaks https"),
        .certificateOutsideItsTime: Entry(
            .error, "certificate expired or not yet valid",
            "set this host's clock; if the clock is right, a captive portal or a proxy is answering: use another network, or correct upload.endpoint"
        ),
        .certificateUntrusted: Entry(
            .error, "certificate not trusted",
            "log in to the network (a captive portal), or use another network; if the certificate authority is your own, set upload.caFile"
        ),
        .intercepted: Entry(
            .error, "another server answered instead of Fleet Engine",
            "log in to the network (a captive portal or a proxy), or use another network; if no login is needed, correct upload.endpoint"
        ),
        .requestTooLarge: Entry(
            .warning, "request too large",
            "raise the size limit of the proxy on the route, or correct upload.endpoint"),
        .throttled: Entry(
            .warning, "throttled by Fleet Engine", "wait, or lower upload.backlogUpdatesPerSecond"),
        .serviceBusy: Entry(.warning, "Fleet Engine busy", "wait; Waypost retries by itself"),
        .gatewayError: Entry(
            .warning, "no answer from Fleet Engine",
            "wait; if no answer comes, check the proxy on the route and upload.endpoint"),
        .serviceRefuses: Entry(.error, "Fleet Engine accepts no updates", "correct upload.endpoint"),
        .vehicleUnknown: Entry(
            .error, "vehicle unknown",
            "create the vehicle in the backend, or correct vehicle.vehicleId, vehicle.providerId, vehicle.service or upload.endpoint"
        ),
        .apiDisabled: Entry(
            .error, "Fleet Engine API disabled",
            "enable the API (gcloud services enable fleetengine.googleapis.com), or correct vehicle.providerId or vehicle.service"
        ),
        .billingDisabled: Entry(
            .error, "billing disabled", "enable billing in the Google Cloud console, or correct vehicle.providerId"),
        .updateRejected: Entry(
            .warning, "update rejected",
            "wait until smaller batches have isolated the update, then run waypost outbox list"),
        .everythingRejected: Entry(
            .error, "every update rejected",
            "check vehicle.service and upload.endpoint, and install the newest release of Waypost"),
        .nothingDelivered: Entry(
            .error, "nothing delivered", "see the log (journalctl -u waypost)", visibleAfter: maximumTimeWithoutDelivery
        ),
        .stateNotSent: Entry(
            .info, "vehicle state not sent",
            "nothing to do; Waypost keeps retrying, even after a restart"),
    ]

    fileprivate static let service: [Self: Entry] = [
        .hostClockWrong: Entry(
            .warning, "this host's clock is wrong", "synchronise the clock (NTP), or install a real-time clock"),
        .statusAddressUnavailable: Entry(
            .warning, "status address unavailable", "free the address, or change status.listen"),
        .configurationExposed: Entry(
            .warning, "configuration can be changed by others",
            "run waypost check, and correct the files' owners and modes"),
        .systemInterfaceUnavailable: Entry(
            .warning, "system interface unavailable",
            "restart the service; if that doesn't help, check what its unit or its container forbids"),
        .privateModeMisconfigured: Entry(
            .warning, "private mode misconfigured", "correct vehicle.privateModeFile or reporting.privateZones"),
        .recordingStopped: Entry(
            .warning, "recording stopped",
            "restart with --record and a directory that has free space and is writable by the service's user"),
        .reloadRejected: Entry(
            .warning, "reload rejected",
            "correct the configuration or its files, and reload or restart; until then, the current configuration stays in use"
        ),
        .lastRunStalled: Entry(
            .warning, "service stalled and terminated itself", "find the device or disk that hung (journalctl -k)"),
        .internalError: Entry(
            .error, "internal error", "report the error, and attach the file that waypost bundle writes"),
        .privateMode: Entry(
            .info, "private mode on",
            "nothing to do; to end private mode, remove vehicle.privateModeFile or leave the zone"),
    ]
}
