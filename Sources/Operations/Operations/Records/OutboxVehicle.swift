package import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting

/// Remembers whose updates wait in an outbox: a file beside it. What waits is sent under the name that is configured
/// when it is sent, so that a gateway that moves to another vehicle would tell of the one before under the new name.
package struct OutboxVehicle: Sendable {
    private let outbox: String

    package init(besideOutbox outbox: String) { self.outbox = outbox }

    /// What follows the outbox's name.
    static let suffix = ".vehicle"
    /// Beside the store itself, where its other files are, by whichever name it is reached.
    private var path: String { ((try? FolderTrust.destination(of: outbox)) ?? outbox) + Self.suffix }

    /// Makes sure that what waits is not another vehicle's; touches nothing, and blocks.
    ///
    /// - Throws: `ofAnotherVehicle`. An outbox without this file, or without pending updates, belongs to nobody.
    package func require(_ vehicle: VehicleName, _ ledger: Ledger) throws(OutboxError) {
        guard ledger.pending > 0, let earlier, earlier.description != vehicle.description else { return }
        throw OutboxError(
            .ofAnotherVehicle, path: outbox,
            .ofVehicle(earlier, pending: ledger.pending, configured: "\(vehicle)"))
    }

    /// The same, and from now on it is `vehicle`'s.
    ///
    /// - Throws: `ofAnotherVehicle`; a file that cannot be written is reported to `warn`.
    package func adopt(_ vehicle: VehicleName, _ ledger: Ledger, warn: (String) -> Void) throws(OutboxError) {
        try require(vehicle, ledger)
        guard earlier?.description != vehicle.description else { return }
        do throws(SystemError) {
            try FileReplacement(at: path).commit(Array("\(vehicle)\n".utf8))
        } catch { warn("whose updates wait in the outbox cannot be recorded: \(error)") }
    }

    private var earlier: ReportedText? {
        guard (try? FileStatus(at: path))?.isOwnFile == true,
            let bytes = try? BoundedFile.contents(of: path, limit: 1024), bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return ReportedText(bytes: bytes.dropLast(), limit: 1024)
    }
}
