import HTTPMessages
import StrictJSON
import Testing

@testable import FleetEngineSimulator

@Suite struct Trip {
    /// The degrees of latitude per metre.
    private static let degreesPerMeter = 1 / 111_195.0

    private static func makeBackend() throws -> SimulatedBackend {
        try SimulatedBackend { $0.trips = [SimulatedTrip(id: "trip", vehicleID: "van", lengthMeters: 1000)] }
    }

    /// Reports a position `meters` north of the start.
    private static func reportPosition(to backend: SimulatedBackend, metersNorth meters: Double, second: Int)
        async throws
    {
        let time = "2026-01-05T10:\(15 + second / 60):\(10 + second % 60)Z"
        let body = """
            {"lastLocation":{"supplementalLocation":{"latitude":\(meters * degreesPerMeter),"longitude":10},
             "supplementalLocationTime":"\(time)","speed":10}}
            """
        #expect(try await backend.sendUpdate(body).status == 200)
    }

    private static func fetchTrip(from backend: SimulatedBackend) async throws -> JSONValue {
        let answer = try await backend.send(.get, "trips/trip", token: backend.token("consumer/trip"))
        #expect(answer.status == 200)
        return answer.json
    }

    @Test func followsItsVehicle() async throws {
        let backend = try Self.makeBackend()
        let new = try await Self.fetchTrip(from: backend)
        #expect(new["name"]?.stringValue == "providers/p/trips/trip")
        #expect(new["vehicleId"]?.stringValue == "van")
        #expect(new["tripStatus"]?.stringValue == "NEW")
        #expect(new["lastLocation"] == nil)
        let drive: [(Double, String, Int64?)] = [
            (0, "ENROUTE_TO_PICKUP", 250), (100, "ENROUTE_TO_PICKUP", 150), (260, "ARRIVED_AT_PICKUP", 740),
            (400, "ENROUTE_TO_DROPOFF", 600), (1000.5, "COMPLETE", nil),
        ]
        for (second, (meters, status, remaining)) in drive.enumerated() {
            try await Self.reportPosition(to: backend, metersNorth: meters, second: second)
            let trip = try await Self.fetchTrip(from: backend)
            #expect(trip["tripStatus"]?.stringValue == status, "after \(meters) m")
            #expect(trip["remainingDistanceMeters"]?.integerValue == remaining)
            #expect(trip["lastLocation"]?["location"]?["longitude"]?.doubleValue == 10)
            #expect((trip["etaToFirstWaypoint"] != nil) == (remaining != nil))
        }
    }

    @Test func countsLatePositionsAsPartOfItsTrack() async throws {
        let backend = try Self.makeBackend()
        // Late positions arrive as past locations, but belong to the track anyway.
        let body = """
            {"pastLocations":[
              {"location":{"latitude":0,"longitude":10},"updateTime":"2026-01-05T10:15:10Z"},
              {"location":{"latitude":0,"longitude":10.002},"updateTime":"2026-01-05T10:15:20Z"}],
             "lastLocation":{"location":{"latitude":0,"longitude":10.001},"updateTime":"2026-01-05T10:15:30Z"}}
            """
        #expect(try await backend.sendUpdate(body, mask: "pastLocations,lastLocation").status == 200)
        #expect(try await Self.fetchTrip(from: backend)["remainingDistanceMeters"]?.integerValue == 666)
    }

    @Test(arguments: [
        ("t=v", SimulatedTrip(id: "t", vehicleID: "v") as SimulatedTrip?),
        ("t=v:500", SimulatedTrip(id: "t", vehicleID: "v", lengthMeters: 500)), ("t", nil), ("=v", nil), ("t=", nil),
        ("t=v:", nil), ("t=v:5", nil), ("t=v:1:2", nil), ("t=v=2000", nil), ("a/b=v", nil), ("t=a,b", nil),
    ])
    func isParsedWithItsVehicle(text: String, trip: SimulatedTrip?) { #expect(SimulatedTrip(text) == trip) }
}
