import Operations
import SQLiteOutbox

/// The differences between the current configuration and the next one that decide how a reload proceeds. Every key can
/// be reloaded.
struct ConfigurationChange: Sendable, Hashable {
    /// Whether the current or the next receiver is a finite input, such as a file, whose end stops the service.
    let receiverEnds: Bool
    /// Whether the current vehicle is no longer reported after the reload, so that Fleet Engine must be notified that
    /// it has stopped.
    let stopsReportingVehicle: Bool
    /// Whether the reload would send updates that are pending now under another vehicle's name.
    let renamesPending: Bool
    /// Whether both configurations use the same outbox.
    let keepsOutbox: Bool

    init(from old: Configuration, to new: Configuration) {
        let isSameVehicle = old.vehicle == new.vehicle
        receiverEnds = old.receiver.ends || new.receiver.ends
        stopsReportingVehicle = !isSameVehicle || old.upload.endpoint != new.upload.endpoint
        keepsOutbox = old.outbox.path == new.outbox.path
        renamesPending = keepsOutbox && !isSameVehicle
    }
}

extension ReceiverConfiguration {
    /// Whether the receiver is a finite input: a complete file or standard input.
    fileprivate var ends: Bool {
        switch source {
        case .file(_, follows: false), .standardInput: true
        case .file, .serial, .tcp, .udp, .gpsd: false
        }
    }
}
