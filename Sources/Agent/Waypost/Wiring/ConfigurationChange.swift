import Operations
import SQLiteOutbox

/// The differences between the active configuration and the next one that affect a reload. Every key can be reloaded.
struct ConfigurationChange: Sendable, Hashable {
    /// Whether the current or the next receiver ends by itself, and the service with it.
    let receiverEnds: Bool
    /// Whether the service must report to Fleet Engine that the current vehicle has stopped.
    let leavesVehicle: Bool
    /// Whether updates that are pending now would be sent for another vehicle.
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
    /// Whether the receiver ends by itself.
    fileprivate var ends: Bool {
        switch source {
        case .file(_, follows: false), .standardInput: true
        case .file, .serial, .tcp, .udp, .gpsd: false
        }
    }
}
