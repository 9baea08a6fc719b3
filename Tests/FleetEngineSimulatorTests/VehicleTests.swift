import HTTPMessages
import StrictJSON
import Testing

@testable import FleetEngineSimulator

@Suite struct Vehicle {
    private static let complete =
        "{\"vehicleState\":\"OFFLINE\",\"supportedTripTypes\":[\"EXCLUSIVE\"],\"maximumCapacity\":1,"
        + "\"vehicleType\":{\"category\":\"TRUCK\"}}"

    @Test func isUnknownUnlessListed() async throws {
        let backend = try SimulatedBackend { $0.existence = .listed(["van"]) }
        #expect(try await backend.update("{\"lastLocation\":{}}").status == 200)
        let token = try await backend.token("driver/other")
        let update = try await backend.send(
            .put, "vehicles/other?updateMask=lastLocation", token: token, body: "{\"lastLocation\":{}}")
        #expect(update.status == 404)
        #expect(update.json.errorStatus == "NOT_FOUND")
        #expect(update.json.errorMessage == "Resources not found: providers/p/vehicles/other")
        #expect(try await backend.send(.get, "vehicles/other", token: token).status == 404)
    }

    @Test func isCreatedByAServerOnce() async throws {
        let backend = try SimulatedBackend { $0.existence = .listed([]) }
        let server = try await backend.token("server")
        let target = "vehicles?vehicleId=van"
        #expect(try await backend.send(.post, target, token: server, body: Self.complete).status == 200)
        let again = try await backend.send(.post, target, token: server, body: Self.complete)
        #expect(again.status == 409)
        #expect(again.json.errorStatus == "ALREADY_EXISTS")
        #expect(try await backend.update("{\"lastLocation\":{}}").status == 200)
    }

    @Test(arguments: [
        ("vehicles?vehicleId=v", "{}", "vehicleState"),
        ("vehicles?vehicleId=v", "{\"vehicleState\":1}", "supportedTripTypes"),
        ("vehicles", complete, "vehicleId"), ("vehicles?vehicleId=a%3Fb", complete, "vehicleId"),
        ("vehicles?deliveryVehicleId=v", complete, "vehicleId"),
        ("vehicles?vehicleId=v", complete.dropLast() + ",\"pastLocations\":[]}", "pastLocations"),
        ("deliveryVehicles?deliveryVehicleId=v", "{\"navigationStatus\":1}", "navigationStatus"),
        ("deliveryVehicles?deliveryVehicleId=v", "{\"pastLocations\":[]}", "pastLocations"),
        ("deliveryVehicles", "{}", "deliveryVehicleId"),
    ])
    func isNotCreatedIncomplete(target: String, body: String, field: String) async throws {
        let backend = try SimulatedBackend.shared.get()
        let answer = try await backend.send(.post, target, token: try await backend.token("server"), body: body)
        #expect(answer.status == 400)
        #expect(answer.json.violatedField == field)
    }

    @Test func isCreatedForDeliveryWithNothing() async throws {
        let backend = try SimulatedBackend()
        let server = try await backend.token("server")
        #expect(
            try await backend.send(.post, "deliveryVehicles?deliveryVehicleId=v", token: server, body: "{}").status
                == 200)
    }
}

@Suite struct WireTimes {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("2026-01-05T10:15:30.25Z", "2026-01-05T10:15:30.250Z"),
            ("2026-01-05T10:15:30.123456Z", "2026-01-05T10:15:30.123456Z"),
            ("2026-01-05T10:15:30.123456789Z", "2026-01-05T10:15:30.123456789Z"),
            ("2024-02-29T23:30:00-00:45", "2024-03-01T00:15:00.000Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"), ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
            ("2100-02-29T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil),
            ("2026-01-00T00:00:00Z", nil), ("2026-01-01T00:60:00Z", nil), ("2026-01-01T00:00:60Z", nil),
            ("2026-01-01T00:00:00.1234567890Z", nil), ("2026-01-01T00:00:00z", nil), ("2026-01-01T00:00:00ZZ", nil),
            ("2026-01-01T00:00:00+24:00", nil), ("0000-01-01T00:00:00Z", nil), ("", nil), ("2026-01-01", nil),
            ("２０２６-01-01T00:00:00Z", nil),
        ] as [(String, String?)])
    func areRead(text: String, normal: String?) {
        #expect(WireTime(text)?.description == normal)
    }
}
