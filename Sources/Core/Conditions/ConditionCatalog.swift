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
    /// A receiver gives a fix every second or so, and needs a minute to its first.
    private static let longestWithoutFix = Duration.seconds(90)
    /// An update or a heartbeat goes out every minute, and may fail twice.
    private static let longestWithoutDelivery = Duration.seconds(180)

    fileprivate static let receiver: [Self: Entry] = [
        .receiverUnavailable: Entry(
            .error, "receiver unavailable",
            "check the receiver's plug, power and cable, and receiver in the configuration"),
        .noPosition: Entry(
            .warning, "no position",
            "check the antenna's plug, cable and view of the sky; under a roof it passes by itself",
            visibleAfter: longestWithoutFix),
        .noSatellites: Entry(
            .warning, "no satellite heard",
            "check the antenna's plug and cable; deep in a building it passes by itself",
            visibleAfter: longestWithoutFix),
        .weakSignals: Entry(
            .warning, "satellites too weak",
            "give the antenna a free view of the sky, and check its cable; under a roof it passes by itself",
            visibleAfter: longestWithoutFix),
        .fixesRejected: Entry(.warning, "fixes rejected", "check the receiver and its antenna"),
        .fixTimesRejected: Entry(
            .warning, "times of fixes rejected", "compare the receiver's date with this host's clock"),
        .logEnded: Entry(.info, "log ended", "set receiver.follow to true if the log still grows"),
        .antennaOpen: Entry(.warning, "antenna line open", "check the antenna's plug and cable"),
        .antennaShort: Entry(.warning, "antenna line short-circuited", "check the antenna and its cable"),
        .foreignDatum: Entry(.warning, "datum isn't WGS 84", "set the receiver's datum to W84"),
        .sentencesDropped: Entry(
            .warning, "receiver drops sentences", "raise its baud rate, or switch sentences off in it"),
        .weekRolloverRepaired: Entry(.info, "receiver's dates repaired", "update the receiver's firmware"),
        .dateTooEarly: Entry(
            .warning, "receiver's dates in the past",
            "wait some minutes, then update the receiver's firmware"),
        .datedByHost: Entry(.info, "fixes dated by this host's clock", "switch RMC or ZDA on in the receiver"),
        .motionContradicted: Entry(
            .warning, "speed or course contradicts the track", "check the receiver's settings and firmware"),
        .simulatedPositions: Entry(
            .warning, "simulated positions not used", "switch simulated and manual positions off in the receiver"),
        .zeroPosition: Entry(.warning, "position 0, 0 not used", "check the source of the device's position"),
        .utf16Text: Entry(
            .warning, "input is UTF-16 text", "convert it to plain text, for example with iconv -f UTF-16 -t ASCII"),
        .localTime: Entry(
            .warning, "sentences state local time", "set the device that writes the sentences to UTC"),
        .positionsUnreadable: Entry(
            .warning, "sentences with a position unreadable", "record a minute, and see waypost fixes --explain"),
        .receiverTimeWrong: Entry(
            .warning, "receiver's time wrong",
            "switch the receiver off and on, then update its firmware, or replace it"),
    ]

    fileprivate static let outbox: [Self: Entry] = [
        .diskFull: Entry(.error, "disk full", "free space on the disk of outbox.path"),
        .outboxInUse: Entry(
            .error, "outbox in use", "stop the other process, or give each its own outbox.path"),
        .outboxBusy: Entry(.error, "outbox locked", "close the program that has locked its file"),
        .outboxUnusable: Entry(
            .error, "outbox unusable", "check the directory of outbox.path, its owner and its disk (dmesg)"),
        .outboxDamaged: Entry(.error, "outbox damaged", "check the disk (dmesg) and replace it"),
        .outboxTooNew: Entry(
            .error, "outbox written by a newer release", "install that release again, or move the file away"),
        .outboxTooOld: Entry(
            .warning, "outbox older than it was", "restore or remove all files of the outbox together"),
        .outboxLogRemoved: Entry(
            .warning, "outbox's log removed", "find out what removed it, and remove no file of the outbox alone"),
        .outboxLogTooLong: Entry(
            .warning, "outbox's log too long", "end the program that reads the file or keeps it open"),
        .outboxWithoutReserve: Entry(
            .warning, "no reserve for a full disk", "move away what is in the reserve's place"),
        .outboxNearlyFull: Entry(
            .warning, "outbox nearly full", "find out why nothing is delivered, or raise outbox.maximumMegabytes"),
        .updatesThinned: Entry(
            .warning, "pending updates thinned", "find out why nothing is delivered, or raise outbox.maximumMegabytes"),
        .updatesLost: Entry(
            .error, "pending updates lost",
            "find out why nothing is delivered, or raise outbox.maximumMegabytes and maximumAgeDays"),
        .updatesDropped: Entry(.error, "oldest updates dropped", "resolve what is wrong with the outbox"),
        .updatesQuarantined: Entry(
            .warning, "updates quarantined", "see waypost outbox list, then requeue or discard them"),
    ]

    fileprivate static let token: [Self: Entry] = [
        .tokenEndpointUnreachable: Entry(
            .error, "token endpoint unreachable", "run waypost token, and check the network and the issuer"),
        .tokenEndpointTLS: Entry(
            .error, "no secure connection to the token issuer",
            "check the certificates with waypost check, and the clock"),
        .tokenRefused: Entry(
            .error, "token refused", "run waypost token; correct authorization, or the backend"),
        .tokenUnusable: Entry(
            .error, "token unusable", "run waypost token, and compare with docs/token-endpoint.md"),
        .tokenClaimsWrong: Entry(.error, "token claims wrong", "run waypost token, and correct what the issuer signs"),
        .tokenSourceFailed: Entry(.error, "token source failed", "run waypost check, and correct authorization"),
        .tokenRenewalFailing: Entry(
            .warning, "token not renewed", "run waypost token before the current token ends"),
        .tokenRejected: Entry(
            .error, "token rejected",
            "sign tokens with a key of a service account of vehicle.providerId's project, and check the backend's clock"
        ),
        .tokenNotPermitted: Entry(
            .error, "token not permitted",
            "name this vehicle in the token (waypost token shows it), sign it as a service account with the driver's "
                + "role, or correct vehicle.providerId"),
    ]

    fileprivate static let delivery: [Self: Entry] = [
        .networkUnavailable: Entry(
            .warning, "Fleet Engine unreachable",
            "wait for the network, then check the vehicle's network and upload.endpoint"),
        .tlsFailed: Entry(
            .warning, "no secure connection", "check that upload.endpoint names a port for https"),
        .certificateOutsideItsTime: Entry(
            .error, "certificate outside its time",
            "set this host's clock; if it is right, a captive portal or a proxy answers: use another network, or "
                + "correct upload.endpoint"),
        .certificateUntrusted: Entry(
            .error, "certificate not trusted",
            "sign in to the network (a captive portal), or use another one; set upload.caFile if the authority is "
                + "your own"),
        .intercepted: Entry(
            .error, "another server answers",
            "sign in to the network (a captive portal or a proxy), or use another one; if there is none, correct "
                + "upload.endpoint"),
        .answerUndecodable: Entry(
            .error, "answers unreadable", "switch compression off in the proxy, or correct upload.endpoint"),
        .requestTooLarge: Entry(
            .warning, "request too large",
            "raise the limit of the proxy on the route, or correct upload.endpoint"),
        .throttled: Entry(
            .warning, "Fleet Engine throttles", "wait, or lower upload.backlogUpdatesPerSecond"),
        .serviceBusy: Entry(.warning, "Fleet Engine busy", "wait until it passes"),
        .gatewayError: Entry(
            .warning, "no answer from Fleet Engine",
            "wait, then check the proxy on the route and upload.endpoint"),
        .serviceRefuses: Entry(.error, "Fleet Engine accepts no updates", "correct upload.endpoint"),
        .vehicleUnknown: Entry(
            .error, "vehicle unknown",
            "create the vehicle in the backend, or correct vehicle.vehicleId, vehicle.providerId, vehicle.service or "
                + "upload.endpoint"),
        .apiDisabled: Entry(
            .error, "Fleet Engine API disabled",
            "enable it (gcloud services enable fleetengine.googleapis.com), or correct vehicle.providerId or "
                + "vehicle.service"),
        .billingDisabled: Entry(
            .error, "billing disabled", "enable billing in the Google Cloud console, or correct vehicle.providerId"),
        .updateRejected: Entry(
            .warning, "update rejected", "wait until smaller batches have found it, then see waypost outbox list"),
        .everythingRejected: Entry(
            .error, "every update rejected",
            "check vehicle.service and upload.endpoint, and install the newest release of Waypost"),
        .nothingDelivered: Entry(
            .error, "nothing delivered", "see the log (journalctl -u waypost)", visibleAfter: longestWithoutDelivery),
    ]

    fileprivate static let service: [Self: Entry] = [
        .hostClockWrong: Entry(.warning, "this host's clock wrong", "set it (NTP, or a real-time clock)"),
        .statusAddressUnavailable: Entry(
            .warning, "status address unavailable", "free the address, or change status.listen"),
        .privateZoneDistant: Entry(
            .warning, "private zone far away", "check that latitude and longitude are not swapped"),
        .recordingStopped: Entry(
            .warning, "recording stopped", "give --record a directory with room that this user may write, and restart"),
        .reloadRejected: Entry(.warning, "reload rejected", "correct the configuration and reload again"),
        .lastRunStalled: Entry(
            .warning, "last run ended itself", "find the device or disk that hangs (journalctl -k)"),
        .internalError: Entry(.error, "internal error", "report it with the file that waypost bundle writes"),
        .privateMode: Entry(
            .info, "private mode on", "leave it on, remove vehicle.privateModeFile, or leave the private zone"),
    ]
}
