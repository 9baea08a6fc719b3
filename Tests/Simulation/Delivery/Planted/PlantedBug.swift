import HTTPMessages
import Reporting
import VehicleAuthorization

/// Bugs that are planted around the real components to check that the laws find each of them.
enum PlantedBug: String, CaseIterable, Sendable {
    // Transport: wrong results for the reporter.
    case countsUnsentAsDelivered, dropsOn401, quarantinesOn503, acknowledgesAllAfter413, leaksATask, ignoresCancellation
    // Outbox.
    case sendsOldestAsLast, losesTheNewest, countsTwice, forgetsAcknowledgements, movesPositions, neverSendsThePast
    case dropsShapePoints, waitsForTheLock, ignoresAppends
    // Tokens.
    case keepsTokensToTheirEnd, mixesVehicles, asksAtEachUpload
    // Settings.
    case retriesWithoutPause, ignoresTheNetwork, hasNoHeartbeat
    // Disk.
    case doesNotSync
    // Connections: the transport's choice of address family and connection.
    case endsSlowAnswers, keepsDrainedConnections, keepsOneFamily
    // Private mode.
    case seesNoSwitch
    // Reporter: its clock never wakes it, or one of its actions ends twice.
    case losesWakeups, endsAnActionTwice
    // Reload: the vehicle is reported as offline.
    case announcesReloads

    func wrapped(_ transport: any HTTPTransport, in world: World) -> any HTTPTransport {
        FaultyTransport(base: transport, bug: self, world: world)
    }

    func wrapped(_ outbox: any Outbox, in world: World) -> any Outbox { FaultyOutbox(outbox, bug: self, world: world) }

    func wrapped(
        _ cached: any VehicleAuthorization, issuer: any VehicleAuthorization, in world: World
    ) -> any VehicleAuthorization {
        switch self {
        case .keepsTokensToTheirEnd, .mixesVehicles, .asksAtEachUpload:
            FaultyCache(cached, issuer: issuer, bug: self, world: world)
        default: cached
        }
    }

    func change(_ settings: inout UploadSettings) {
        switch self {
        case .ignoresTheNetwork:
            settings.retry = RetryPolicy(initialDelay: .seconds(120), maximumDelay: .seconds(36_000))
        case .retriesWithoutPause: settings.retry = RetryPolicy(initialDelay: .zero, maximumDelay: .zero)
        case .hasNoHeartbeat, .ignoresAppends: settings.heartbeat = .seconds(36_000)
        default: break
        }
    }
}
