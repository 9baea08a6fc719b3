import FleetEngine
import HTTPMessages
import StrictJSON
import Testing

@testable import FleetEngineSimulator

/// Fields of `lastLocation` with invalid values.
private let invalidLocationFields: [(String, String)] = [
    ("heading", "360"), ("heading", "-1"), ("heading", "90.5"), ("heading", "{\"value\":90}"), ("heading", "true"),
    ("location", "1"), ("location", "[1,2]"), ("location", "{\"lat\":1}"), ("location", "{\"latitude\":91}"),
    ("location", "{\"latitude\":-90.1}"), ("location", "{\"longitude\":180.5}"), ("location", "{\"longitude\":-181}"),
    ("location", "{\"latitude\":\"north\"}"), ("supplementalLocation", "{\"latitude\":1e9}"),
    ("rawLocation", "\"x\""), ("flpLocation", "7"),
    ("latlngAccuracy", "-1"), ("headingAccuracy", "\"wide\""), ("altitudeAccuracy", "-0.1"), ("speedAccuracy", "[]"),
    ("rawLocationAccuracy", "-3"), ("supplementalLocationAccuracy", "\"NaN\""), ("horizontalAccuracy", "-1"),
    ("altitude", "\"high\""), ("altitude", "\"Infinity\""), ("speed", "{\"value\":8.3}"), ("speed", "\"\""),
    ("updateTime", "1767608130"), ("updateTime", "\"2026-01-05 10:15:30Z\""), ("updateTime", "\"2026-01-05T10:15:30\""),
    ("supplementalLocationTime", "\"2026-02-30T10:15:30Z\""), ("supplementalLocationTime", "\"2026-01-05T24:00:00Z\""),
    ("supplementalLocationTime", "\"2026-01-05T10:15:30.Z\""), ("rawLocationTime", "\"2026-1-5T10:15:30Z\""),
    ("rawLocationTime", "\"2026-01-05T10:15:30+0100\""), ("flpUpdateTime", "\"\""), ("serverTime", "5"),
    ("locationSensor", "\"GNSS\""), ("locationSensor", "6"),
    ("supplementalLocationSensor", "\"FLEET_ENGINE_LOCATION\""),
    ("rawLocationSensor", "99"), ("isRoadSnapped", "1"), ("isGpsSensorEnabled", "\"true\""),
    ("timeSinceUpdate", "-1"), ("timeSinceUpdate", "1.5"), ("numStaleUpdates", "\"x\""), ("speedKmph", "3000000000"),
    ("satellites", "7"), ("hdop", "1.1"), ("Heading", "5"), ("HEADING", "5"), ("last_Location", "5"),
]

@Suite struct UpdateBody {
    @Test(arguments: invalidLocationFields, FleetService.allCases)
    func isRejectedForOneInvalidField(field: (String, String), service: FleetService) async throws {
        let backend = try SimulatedBackend.shared.get()
        let (status, json, _) = try await backend.sendUpdate(
            "{\"lastLocation\":{\"\(field.0)\":\(field.1)}}", as: service)
        #expect(status == 400)
        #expect(json.errorStatus == "INVALID_ARGUMENT")
        #expect(json.violatedField?.hasPrefix("lastLocation.\(field.0)") == true, "\(json.errorMessage)")
    }

    @Test(arguments: [
        ("heading", "0"), ("heading", "359"), ("heading", "\"271\""), ("heading", "271.0"), ("heading", "null"),
        ("speed", "-0.7"), ("speed", "\"8.3\""), ("altitude", "-430.5"), ("altitude", "1e4"), ("location", "{}"),
        ("location", "{\"latitude\":-90,\"longitude\":180}"), ("updateTime", "\"2026-01-05T10:15:30Z\""),
        ("updateTime", "\"2026-01-05T10:15:30.123456789+05:30\""), ("updateTime", "\"2024-02-29T23:59:59.9-00:00\""),
        ("updateTime", "\"2076-01-05T10:15:30Z\""), ("locationSensor", "\"GPS\""), ("locationSensor", "200"),
        ("isRoadSnapped", "true"), ("timeSinceUpdate", "30"), ("latlng_accuracy", "4.5"),
        ("supplemental_location_accuracy", "0"), ("serverTime", "\"2026-01-05T10:15:30Z\""),
    ])
    func isAcceptedWithAnyValidField(field: String, value: String) async throws {
        let (status, json, _) = try await SimulatedBackend.shared.get().sendUpdate(
            "{\"lastLocation\":{\"\(field)\":\(value)}}")
        #expect(status == 200, "\(json.errorMessage)")
    }

    @Test(arguments: [
        ("", "line 1, column 1: the text is empty"), ("{", "\"}\" is missing"),
        ("<html>", "not JSON; a document begins with {"),
        ("{\"lastLocation\":{},\"lastLocation\":{}}", "the key \"lastLocation\" is in this object twice"),
        ("{\"lastLocation\":{},\"last_location\":{}}", "the field is set twice, in both spellings"),
        ("[]", "expected an object, not an array"), ("{\"vehicle\":{}}", "Unknown name \"vehicle\""),
        ("{\"lastLocation\":[]}", "expected an object, not an array"), ("{\"pastLocations\":{}}", "expected an array"),
        ("{\"pastLocations\":[{\"heading\":400}]}", "400 is out of range"),
        ("{\"vehicleState\":\"ON\"}", "not a value of this enum"),
        ("{\"vehicleState\":3}", "not a value of this enum"), ("{\"maximumCapacity\":0}", "out of range"),
        ("{\"supportedTripTypes\":\"SHARED\"}", "expected an array"),
        ("{\"vehicleType\":{\"category\":\"VAN\"}}", "not a value"),
        ("{\"vehicleType\":\"TRUCK\"}", "expected an object"),
        ("{\"licensePlate\":{\"number\":\"1\"}}", "Unknown name"),
        ("{\"navigationStatus\":9}", "not a value"), ("{\"backToBackEnabled\":\"yes\"}", "expected true or false"),
        ("{\"deviceSettings\":{\"batteryInfo\":{\"batteryPercentage\":101}}}", "out of range"),
        ("{\"etaToFirstWaypoint\":\"soon\"}", "expected an RFC 3339 time"),
        ("{\"waypoints\":[1]}", "expected an object"),
        ("{\"currentRouteSegment\":1}", "expected a string"),
        ("{\"remainingDistanceMeters\":1.5}", "expected an integer"),
        ("{\"name\":\"providers/p/vehicles/other\"}", "differs from the URL"),
        ("{\"type\":\"AUTO\"}", "Unknown name \"type\""),
        ("{\"remainingDuration\":\"1s\"}", "Unknown name"),
        ("{\"attributes\":[{\"key\":\"a:b\"}]}", "must not be empty or contain"),
        ("{\"attributes\":[{\"key\":\"a\"},{\"key\":\"a\"}]}", "occurs twice"),
        ("{\"attributes\":[{}]}", "must not be empty"),
        (
            "{\"attributes\":[{\"key\":\"a\",\"stringValue\":\"" + String(repeating: "x", count: 255) + "\"}]}",
            "longer than 256"
        ),
    ])
    func isRejectedForOnDemandVehicles(body: String, message: String) async throws {
        let (status, json, _) = try await SimulatedBackend.shared.get().sendUpdate(body)
        #expect(status == 400)
        #expect(json.errorMessage.contains(message), "\(json.errorMessage)")
    }

    @Test(arguments: [
        ("{\"vehicleState\":\"ONLINE\"}", "Unknown name \"vehicleState\""), ("{\"type\":\"TRUCK\"}", "not a value"),
        ("{\"remainingDuration\":\"5\"}", "expected a duration"), ("{\"remainingDuration\":5}", "expected a duration"),
        ("{\"currentRouteSegment\":\"a b\"}", "expected base64"), ("{\"deviceSettings\":{}}", "Unknown name"),
        ("{\"currentRouteSegmentEndPoint\":{\"latitude\":100}}", "out of range"),
        ("{\"remainingVehicleJourneySegments\":[\"x\"]}", "expected an object"),
    ])
    func isRejectedForScheduledVehicles(body: String, message: String) async throws {
        let (status, json, _) = try await SimulatedBackend.shared.get().sendUpdate(body, as: .scheduledTasks)
        #expect(status == 400)
        #expect(json.errorMessage.contains(message), "\(json.errorMessage)")
    }

    @Test(arguments: [
        ("", "update_mask cannot be empty"), ("lastLocation,", "unknown field: \"\""),
        ("speed", "unknown field: \"speed\""),
        ("lastLocation,%20vehicleState", "unknown field: \" vehicleState\""), ("name", "can't be in the mask"),
        ("currentTrips", "can't be in the mask"), ("availableCapacity", "can't be in the mask"),
        ("currentRouteSegmentVersion", "can't be in the mask"), ("waypointsVersion", "can't be in the mask"),
        ("lastLocation.serverTime", "can't be in the mask"), ("lastLocation.sped", "unknown field"),
        ("vehicleState.x", "unknown field"), ("*", "unknown field"), ("LASTLOCATION", "unknown field"),
    ])
    func isRejectedForAnInvalidMask(mask: String, message: String) async throws {
        let (status, json, _) = try await SimulatedBackend.shared.get().sendUpdate("{}", mask: mask)
        #expect(status == 400)
        #expect(json.violatedField == "updateMask")
        #expect(json.errorMessage.contains(message), "\(json.errorMessage)")
    }

    @Test func requiresAMaskAndAJSONContentType() async throws {
        let backend = try SimulatedBackend()
        let token = try await backend.token("driver/van")
        #expect(
            try await backend.send(.put, "vehicles/van", token: token, body: "{}").json.violatedField == "updateMask")
        let wrong = try await backend.send(
            .put, "vehicles/van?updateMask=lastLocation", token: token, body: "{}", contentType: "text/plain")
        #expect(wrong.status == 400)
        #expect(wrong.json.errorMessage.contains("Content-Type: application/json, not text/plain"))
    }
}

@Suite struct Update {
    private static let location =
        "{\"supplementalLocation\":{\"latitude\":37.3382,\"longitude\":-121.8863},"
        + "\"supplementalLocationTime\":\"2026-01-05T11:15:29.25+01:00\",\"heading\":271,\"timeSinceUpdate\":5}"

    @Test(arguments: ["lastLocation,vehicleState", "last_location,vehicle_state", "vehicleState,lastLocation"])
    func returnsTheWholeResource(mask: String) async throws {
        let backend = try SimulatedBackend()
        let (status, json, _) = try await backend.sendUpdate(
            "{\"vehicleState\":\"ONLINE\",\"lastLocation\":\(Self.location),\"maximumCapacity\":3}", mask: mask)
        #expect(status == 200)
        #expect(json["name"]?.stringValue == "providers/p/vehicles/van")
        #expect(json["vehicleState"]?.stringValue == "ONLINE")
        let last = json["lastLocation"]
        #expect(last?["supplementalLocationTime"]?.stringValue == "2026-01-05T10:15:29.250Z")
        #expect(last?["serverTime"]?.stringValue == "2026-01-05T10:15:30.000Z")
        #expect(last?["location"]?["latitude"]?.doubleValue == 37.3382)
        #expect(last?["timeSinceUpdate"] == nil, "input only")
        #expect(json["maximumCapacity"] == nil, "outside the mask")
    }

    @Test func clearsFieldsThatTheMaskListsAndTheBodyOmits() async throws {
        let backend = try SimulatedBackend()
        _ = try await backend.sendUpdate(
            "{\"vehicleState\":\"ONLINE\",\"lastLocation\":\(Self.location)}", mask: "vehicleState,lastLocation")
        let (_, json, _) = try await backend.sendUpdate("{}", mask: "vehicleState,lastLocation.heading")
        #expect(json["vehicleState"] == nil)
        #expect(json["lastLocation"]?["heading"] == nil)
        #expect(json["lastLocation"]?["supplementalLocation"] != nil)
    }

    @Test(arguments: FleetService.allCases)
    func isRecorded(service: FleetService) async throws {
        let backend = try SimulatedBackend()
        let past = Self.location.split(separator: "11:15:29").joined(separator: "11:14:29")
        let (status, json, _) = try await backend.sendUpdate(
            "{\"lastLocation\":\(Self.location),\"pastLocations\":[\(past)]}", as: service,
            mask: "lastLocation,pastLocations")
        #expect(status == 200)
        #expect(json["pastLocations"] == nil, "input only")
        let name = ResourceName(provider: "p", service: service, id: "van")
        let times = await backend.engine.record.vehicles[name]?.fixTimes.map(\.description)
        #expect(times == ["2026-01-05T10:14:29.250Z", "2026-01-05T10:15:29.250Z"])
        let record = try await backend.get("/record.json")
        #expect(record["vehicles"]?[name.description]?["fixTimes"]?.arrayValue?.count == 2)
        #expect(record["summary"]?["distinctFixes"]?.integerValue == 2)
    }

    @Test func isNotRecordedOutsideTheMask() async throws {
        let backend = try SimulatedBackend()
        let (status, _, _) = try await backend.sendUpdate("{\"lastLocation\":\(Self.location)}", mask: "vehicleState")
        #expect(status == 200)
        let name = ResourceName(provider: "p", service: .onDemandTrips, id: "van")
        #expect(await backend.engine.record.vehicles[name]?.fixTimes ?? [] == [])
    }

    @Test func isCountedIfOutOfOrder() async throws {
        let backend = try SimulatedBackend()
        func body(_ last: String, _ past: String...) -> String {
            func location(_ time: String) -> String {
                "{\"location\":{\"latitude\":1,\"longitude\":1},\"updateTime\":\"2026-01-05T\(time)Z\"}"
            }
            return
                "{\"lastLocation\":\(location(last)),\"pastLocations\":[\(past.map(location).joined(separator: ","))]}"
        }
        for body in [
            body("10:00:10", "10:00:01", "10:00:02"), body("10:00:10"), body("10:00:09"),
            body("10:00:20", "10:00:18", "10:00:17"), body("10:00:30", "10:00:31"),
        ] { _ = try await backend.sendUpdate(body, mask: "lastLocation,pastLocations") }
        let vehicle = try #require(await backend.engine.record.vehicles.values.first)
        #expect(vehicle.order.lastLocationsBackInTime == 1)
        #expect(vehicle.order.pastLocationsOutOfOrder == 2)
        #expect(vehicle.repeatedFixes == 1)
        #expect(vehicle.deliveries.count == 9)
        #expect(vehicle.track.map(\.time) == vehicle.fixTimes)
        #expect(vehicle.latest?.time?.description == "2026-01-05T10:00:30.000Z")
    }
}
