package import Conditions
package import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting

/// A record that says which vehicle the updates in an outbox belong to. It is a file next to the outbox.
///
/// An update is sent under the vehicle name that is configured when it is sent. If a gateway moved to another vehicle,
/// it would report the old vehicle's positions under the new name. The record prevents such false reports.
package struct OutboxVehicle: Sendable {
    private let outbox: String

    package init(forOutbox outbox: String) { self.outbox = outbox }

    /// The suffix of the record's file name, which begins with the outbox's name.
    static let suffix = ".vehicle"
    /// The path of the record. If `outbox` is a symbolic link, the record is next to the symbolic link's target.
    private var path: String { ((try? DirectoryTrust.destination(of: outbox)) ?? outbox) + Self.suffix }

    /// Verifies that pending updates in the outbox, if any, belong to `vehicle`. Writes nothing. Blocks.
    ///
    /// - Throws: `otherVehicle` if pending updates belong to another vehicle. If there is no record, the updates
    ///   are assumed to belong to `vehicle`.
    package func require(_ vehicle: VehicleName, ledger: Ledger) throws(OutboxError) {
        guard ledger.pending > 0, let recordedVehicle, recordedVehicle.description != vehicle.description else {
            return
        }
        throw OutboxError(
            .otherVehicle, path: outbox,
            .otherVehicle(recordedVehicle, pending: ledger.pending, configured: "\(vehicle)"))
    }

    /// Verifies the same as `require`, then records that the outbox belongs to `vehicle`. Blocks.
    ///
    /// - Parameters:
    ///   - vehicle: the configured vehicle.
    ///   - ledger: the outbox's ledger.
    ///   - warn: receives a warning if the record can't be written.
    /// - Throws: `otherVehicle` if pending updates belong to another vehicle.
    package func adopt(_ vehicle: VehicleName, ledger: Ledger, warn: (Condition) -> Void) throws(OutboxError) {
        try require(vehicle, ledger: ledger)
        guard recordedVehicle?.description != vehicle.description else { return }
        do throws(SystemError) {
            try FileReplacement(at: path).commit(Array("\(vehicle)\n".utf8))
        } catch { warn(Condition(unchanged: .vehicle, because: error, error.refusal)) }
    }

    private var recordedVehicle: ReportedText? {
        guard (try? FileStatus(at: path))?.isOwnFile == true,
            let bytes = try? BoundedFile.contents(of: path, limit: 1024), bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return ReportedText(bytes: bytes.dropLast(), limit: 1024)
    }
}
