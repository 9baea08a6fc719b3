import HTTPMessages
import Reporting
import VehicleAuthorization

/// Mistakes that a delivery can make, put around the real parts to see that the laws notice each.
enum PlantedBug: String, CaseIterable, Sendable {
    // Transport: the results that the reporter receives.
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
    // Connections: what the transport learns.
    case endsSlowAnswers, keepsDrainedConnections, keepsOneFamily
    // Private mode.
    case seesNoSwitch
    // Reporter: its clock never rings, or an action of it ends twice.
    case losesWakeups, endsAnActionTwice

    func around(_ transport: any HTTPTransport, _ world: World) -> any HTTPTransport {
        FaultyTransport(base: transport, bug: self, world: world)
    }

    func around(_ outbox: any Outbox, _ world: World) -> any Outbox { FaultyOutbox(outbox, bug: self, world: world) }

    func around(
        _ cached: any VehicleAuthorization, issuer: any VehicleAuthorization, _ world: World
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
