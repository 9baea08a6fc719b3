package import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting

/// A record of the vehicle whose updates are in an outbox, in a file next to the outbox.
///
/// Pending updates are sent under the vehicle name that is configured at that time. Without the record, a gateway that
/// moves to another vehicle would report positions of the old vehicle under the new name.
package struct OutboxVehicle: Sendable {
    private let outbox: String

    package init(forOutbox outbox: String) { self.outbox = outbox }

    /// The suffix that follows the outbox's name.
    static let suffix = ".vehicle"
    /// The record's path, next to the outbox's database even if `outbox` is a symbolic link.
    private var path: String { ((try? DirectoryTrust.destination(of: outbox)) ?? outbox) + Self.suffix }

    /// Checks that the pending updates don't belong to another vehicle. Changes nothing. Blocks.
    ///
    /// - Throws: `ofAnotherVehicle` if the updates belong to another vehicle. An outbox without a record, or without
    ///   pending updates, fits any vehicle.
    package func require(_ vehicle: VehicleName, _ ledger: Ledger) throws(OutboxError) {
        guard ledger.pending > 0, let earlier, earlier.description != vehicle.description else { return }
        throw OutboxError(
            .ofAnotherVehicle, path: outbox,
            .ofVehicle(earlier, pending: ledger.pending, configured: "\(vehicle)"))
    }

    /// Checks the same as `require`, then records `vehicle`. Blocks.
    ///
    /// - Parameters:
    ///   - vehicle: the configured vehicle.
    ///   - ledger: the outbox's ledger.
    ///   - warn: receives a warning if the record can't be written.
    /// - Throws: `ofAnotherVehicle` if the pending updates belong to another vehicle.
    package func adopt(_ vehicle: VehicleName, _ ledger: Ledger, warn: (String) -> Void) throws(OutboxError) {
        try require(vehicle, ledger)
        guard earlier?.description != vehicle.description else { return }
        do throws(SystemError) {
            try FileReplacement(at: path).commit(Array("\(vehicle)\n".utf8))
        } catch { warn("could not record the vehicle of the pending updates: \(error)") }
    }

    private var earlier: ReportedText? {
        guard (try? FileStatus(at: path))?.isOwnFile == true,
            let bytes = try? BoundedFile.contents(of: path, limit: 1024), bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return ReportedText(bytes: bytes.dropLast(), limit: 1024)
    }
}
