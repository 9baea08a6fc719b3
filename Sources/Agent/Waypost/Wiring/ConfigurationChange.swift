import Operations
import SQLiteOutbox

/// What a reload must know of the difference between the configuration in force and the next one. Pure; every key can
/// be reloaded.
struct ConfigurationChange: Sendable, Hashable {
    /// Whether a receiver that comes to an end, and the service with it, is configured now or next.
    let receiverEnds: Bool
    /// Whether Fleet Engine must be told that the present vehicle has stopped.
    let leavesVehicle: Bool
    /// Whether updates that are pending now would be sent as those of another vehicle.
    let renamesPending: Bool
    /// Whether the next run opens the same outbox.
    let keepsOutbox: Bool

    init(from old: Configuration, to new: Configuration) {
        let isSameVehicle = old.vehicle == new.vehicle
        receiverEnds = old.receiver.ends || new.receiver.ends
        leavesVehicle = !isSameVehicle || old.upload.endpoint != new.upload.endpoint
        keepsOutbox = old.outbox.path == new.outbox.path
        renamesPending = keepsOutbox && !isSameVehicle
    }
}

extension ReceiverConfiguration {
    /// Whether the receiver comes to an end by itself.
    fileprivate var ends: Bool {
        switch source {
        case .file(_, follows: false), .standardInput: true
        case .file, .serial, .tcp, .udp, .gpsd: false
        }
    }
}
