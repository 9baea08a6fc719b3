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
    /// - Throws: `unusable`. What has nothing beside it, or nothing that waits, is anybody's.
    package func require(_ vehicle: VehicleName, _ ledger: Ledger) throws(OutboxError) {
        guard ledger.pending > 0, let earlier, earlier.description != vehicle.description else { return }
        let updates = ledger.pending.counted("update")
        let wait = ledger.pending == 1 ? "waits" : "wait"
        throw OutboxError(
            .unusable,
            """
            \(outbox): \(updates) of \(earlier) \(wait) in it and would be told as \(vehicle)'s; let \(earlier) deliver \
            first, with its ids in the configuration until nothing is pending, or set outbox.path to another file
            """)
    }

    /// The same, and from now on it is `vehicle`'s.
    ///
    /// - Throws: `unusable`; a file that cannot be written is reported to `warn`.
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
