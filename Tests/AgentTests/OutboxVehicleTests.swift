import Conditions
import FleetEngine
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Operations

/// A gateway that is moved to another vehicle while updates are pending.
@Suite struct OutboxVehicles {
    let directory: TemporaryDirectory
    let path: String
    let warnings = Locked([Condition]())

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("outbox.sqlite")
    }

    private func openOutbox(forVehicle id: String) async throws -> SQLiteOutbox {
        var configuration = OutboxConfiguration(path: path, maximumBytes: 1 << 20)
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: id)
        let (owner, warnings) = (OutboxVehicle(forOutbox: path), warnings)
        configuration.checkLedger = { ledger throws(OutboxError) in
            try owner.adopt(vehicle, ledger: ledger) { warning in warnings.withLock { $0.append(warning) } }
        }
        return try await SQLiteOutbox.open(configuration)
    }

    private func leavePendingUpdate(of id: String) async throws {
        let outbox = try await openOutbox(forVehicle: id)
        try await outbox.append(
            LocationUpdate(timeOfFix: UTCTime(millisecondsSince1970: 1_767_608_130_250), latitude: 50, longitude: 10))
        try await outbox.close()
    }

    @Test func keepTheirUpdatesIfTheConfigurationNamesAnotherVehicle() async throws {
        try await leavePendingUpdate(of: "van-7")
        let cause = OutboxError.Cause.otherVehicle(
            "providers/p/vehicles/van-7", pending: 1, configured: "providers/p/vehicles/van-8")
        for _ in 1...2 {
            let error = await #expect(throws: OutboxError.self) { try await openOutbox(forVehicle: "van-8") }
            #expect(error == OutboxError(.otherVehicle, path: path, cause))
        }

        let outbox = try await openOutbox(forVehicle: "van-7")
        #expect(try await outbox.ledger().pending == 1)
        let batch = try #require(try await outbox.nextBatch(maximumPastLocations: 1))
        try await outbox.acknowledge(batch)
        try await outbox.close()

        // Nothing is pending, so no update can be sent under the wrong name.
        try await leavePendingUpdate(of: "van-8")
        await #expect(throws: OutboxError.self) { try await openOutbox(forVehicle: "van-7") }
        #expect(warnings.withLock { $0 } == [])
        #expect(try FileStatus(at: path + ".vehicle")?.permissions == 0o600)
    }

    /// If an earlier release didn't record the name, or a power cut lost it, the pending updates are probably this
    /// vehicle's.
    @Test(arguments: [nil, "", "providers/p/vehicles/van-8"]) func areUnknownWithoutACompleteRecord(record: String?)
        async throws
    {
        try await leavePendingUpdate(of: "van-8")
        try FileSystem.removeFile(at: path + ".vehicle")
        if let record { _ = try directory.write(record.utf8, to: "outbox.sqlite.vehicle") }
        let outbox = try await openOutbox(forVehicle: "van-7")
        #expect(try await outbox.ledger().pending == 1)
        try await outbox.close()
        await #expect(throws: OutboxError.self) { try await openOutbox(forVehicle: "van-8") }
    }

    @Test func areReportedIfTheyCannotBeRecorded() async throws {
        try FileSystem.createDirectory(at: path + ".vehicle")
        try await leavePendingUpdate(of: "van-7")
        #expect(
            warnings.withLock { $0.map(\.explanation.description) } == [
                "could not record the vehicle of the pending updates: write \(path).vehicle: Is a directory; "
                    + "\(ConditionCode.outboxFileUnwritable.remedy)"
            ])
    }

    @Test func areUnchangedByACheck() async throws {
        try await leavePendingUpdate(of: "van-8")
        let configuration = try Configuration(file: try ServiceSetup().write(in: directory))
        let owner = OutboxVehicle(forOutbox: path)
        let outbox = try await SQLiteOutbox.open(configuration.outbox)
        let ledger = try await outbox.ledger()
        try await outbox.close()
        for _ in 1...2 {
            #expect(throws: OutboxError.self) { try owner.require(configuration.vehicle, ledger: ledger) }
        }
    }
}
