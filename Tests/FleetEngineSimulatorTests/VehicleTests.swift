import HTTPMessages
import HTTPService
import StrictJSON
import Testing

@testable import FleetEngineSimulator

@Suite struct Vehicle {
    private static let complete =
        "{\"vehicleState\":\"OFFLINE\",\"supportedTripTypes\":[\"EXCLUSIVE\"],\"maximumCapacity\":1,"
        + "\"vehicleType\":{\"category\":\"TRUCK\"}}"

    @Test func isUnknownUnlessListed() async throws {
        let backend = try SimulatedBackend { $0.existence = .listed(["van"]) }
        #expect(try await backend.sendUpdate("{\"lastLocation\":{}}").status == 200)
        let token = try await backend.token("driver/other")
        let update = try await backend.send(
            .put, "vehicles/other?updateMask=lastLocation", token: token, body: "{\"lastLocation\":{}}")
        #expect(update.status == 404)
        #expect(update.json.errorStatus == "NOT_FOUND")
        #expect(update.json.errorMessage == "Resources not found: providers/p/vehicles/other")
        #expect(try await backend.send(.get, "vehicles/other", token: token).status == 404)
    }

    @Test(
        arguments: [
            ("", "name", ["name"]), ("", "lastLocation,name", ["lastLocation", "name"]), ("", "name.x", []),
            ("&$fields=name", nil, ["name"]), ("&fields=lastLocation", nil, ["lastLocation"]),
            ("", "*", ["lastLocation", "name"]), ("", nil, ["lastLocation", "name"]),
        ] as [(String, String?, [String])])
    func isReturnedWithTheRequestedFieldsOnly(query: String, header: String?, members: [String]) async throws {
        let backend = try SimulatedBackend()
        var headers = HTTPHeaders(["Content-Type": "application/json"])
        headers["Authorization"] = "Bearer \(try await backend.token("driver/van"))"
        headers["X-Goog-FieldMask"] = header
        let served = await backend.engine.respond(
            to: ServedRequest(
                .put, "/v1/providers/p/vehicles/van?updateMask=lastLocation" + query, headers: headers,
                body: Array(#"{"lastLocation":{"location":{"latitude":1,"longitude":2}}}"#.utf8)))
        #expect(served.response.status == 200)
        #expect(try JSONValue(parsing: served.response.body).objectValue?.keys.sorted() == members)
    }

    @Test func isCreatedOnceByAServer() async throws {
        let backend = try SimulatedBackend { $0.existence = .listed([]) }
        let server = try await backend.token("server")
        let target = "vehicles?vehicleId=van"
        #expect(try await backend.send(.post, target, token: server, body: Self.complete).status == 200)
        let again = try await backend.send(.post, target, token: server, body: Self.complete)
        #expect(again.status == 409)
        #expect(again.json.errorStatus == "ALREADY_EXISTS")
        #expect(try await backend.sendUpdate("{\"lastLocation\":{}}").status == 200)
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
    func isNotCreatedWithoutRequiredFields(target: String, body: String, field: String) async throws {
        let backend = try SimulatedBackend.shared.get()
        let answer = try await backend.send(.post, target, token: try await backend.token("server"), body: body)
        #expect(answer.status == 400)
        #expect(answer.json.violatedField == field)
    }

    @Test func isCreatedForDeliveryFromAnEmptyBody() async throws {
        let backend = try SimulatedBackend()
        let server = try await backend.token("server")
        #expect(
            try await backend.send(.post, "deliveryVehicles?deliveryVehicleId=v", token: server, body: "{}").status
                == 200)
    }
}
