import FleetEngine
import HTTPMessages
import ReportedText
import StrictJSON
import Testing

/// A consumer's view of Fleet Engine's answers.
@Suite struct FollowedSnapshots {
    private static let trip = try? FollowedResource.trip(TripName(providerID: "p", tripID: "t 1"))
    private static let van = try? FollowedResource.vehicle(
        VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v"))
    private static let delivery = try? FollowedResource.vehicle(
        VehicleName(service: .scheduledTasks, providerID: "p", vehicleID: "v"))

    private static func snapshot(_ body: String, of resource: FollowedResource?) throws -> FollowedSnapshot {
        let name = try #require(resource).description
        return try #require(FollowedSnapshot(try JSONValue(parsing: Array(body.utf8)), named: name))
    }

    @Test func describeATrip() throws {
        let snapshot = try Self.snapshot(
            """
            {"name":"providers/p/trips/t 1","vehicleId":"van-7","tripStatus":"ENROUTE_TO_PICKUP","view":"SDK",
             "lastLocation":{"location":{"latitude":53.5,"longitude":-10},"updateTime":"2026-01-05T10:15:30.250Z",
               "serverTime":"2026-01-05T10:15:31Z","latlngAccuracy":4.5,"heading":271,"speed":8.3,"isRoadSnapped":true},
             "remainingDistanceMeters":1240,"etaToFirstWaypoint":"2026-01-05T10:19:00Z",
             "remainingTimeToFirstWaypoint":"210s","currentRouteSegmentVersion":"2026-01-05T10:00:00.5Z",
             "somethingNew":{"a":[1,2,null]}}
            """, of: Self.trip)
        #expect(snapshot.status == "ENROUTE_TO_PICKUP")
        #expect(snapshot.vehicleID == "van-7")
        #expect(snapshot.remainingDistanceMeters == 1240)
        #expect(snapshot.arrivalMillisecondsSince1970 == 1_767_608_340_000)
        #expect(snapshot.remainingSeconds == 210)
        #expect(snapshot.routeVersion == "2026-01-05T10:00:00.5Z")
        let position = try #require(snapshot.position)
        #expect((position.latitude, position.longitude) == (53.5, -10))
        #expect(position.timeOfFixMillisecondsSince1970 == 1_767_608_130_250)
        #expect((position.accuracyMeters, position.headingDegrees, position.speedMetersPerSecond) == (4.5, 271, 8.3))
        #expect(!snapshot.isOver)
    }

    @Test func describeVehicles() throws {
        let van = try Self.snapshot(
            #"{"name":"providers/p/vehicles/v","vehicleState":"ONLINE","lastLocation":{"location":{"longitude":1}}}"#,
            of: Self.van)
        #expect(van.status == "ONLINE")
        #expect(van.position?.latitude == 0)
        #expect(van.position?.timeOfFixMillisecondsSince1970 == nil)
        let delivery = try Self.snapshot(
            """
            {"name":"providers/p/deliveryVehicles/v","remainingDuration":"803.5s","remainingDistanceMeters":"77",
             "lastLocation":{"rawLocation":{"latitude":2,"longitude":1},"rawLocationTime":"2026-01-05T10:15:30Z"}}
            """, of: Self.delivery)
        #expect(delivery.remainingSeconds == 803.5)
        #expect(delivery.remainingDistanceMeters == 77)
        #expect(delivery.position?.latitude == 2)
        #expect(delivery.position?.timeOfFixMillisecondsSince1970 == 1_767_608_130_000)
    }

    @Test(arguments: [
        "{}", #"{"lastLocation":{}}"#, #"{"lastLocation":7,"tripStatus":7,"remainingDuration":"1e999s"}"#,
    ])
    func tolerateMissingAndUnexpectedMembers(rest: String) throws {
        let body = #"{"name":"providers/p/trips/t 1""# + (rest == "{}" ? "}" : "," + rest.dropFirst())
        #expect(try Self.snapshot(body, of: Self.trip) == FollowedSnapshot())
    }

    /// Protobuf's JSON writes NaN and Infinity as strings, and accepts quotes around a number.
    @Test(arguments: [
        (#""latitude":"NaN","longitude":1"#, nil as [Double]?), (#""latitude":1,"longitude":"Infinity""#, nil),
        (#""latitude":"-Infinity""#, nil), (#""latitude":"north""#, nil), (#""latitude":true"#, nil),
        (#""latitude":91"#, nil), (#""longitude":-180.5"#, nil), (#""latitude":1e300"#, nil),
        (#""latitude":"53.5","longitude":"-10""#, [53.5, -10]), (#""latitude":null,"longitude":2"#, [0, 2]),
        (#""latitude":90,"longitude":-180"#, [90, -180]), ("", [0, 0]),
    ])
    func acceptValidCoordinatesOnly(members: String, place: [Double]?) throws {
        let snapshot = try Self.snapshot(
            #"{"name":"providers/p/trips/t 1","lastLocation":{"location":{\#(members)},"speed":"NaN"}}"#, of: Self.trip)
        #expect(snapshot.position.map { [$0.latitude, $0.longitude] } == place)
        #expect(snapshot.position?.speedMetersPerSecond == nil)
    }

    @Test(arguments: [
        ("NEW", false), ("ARRIVED_AT_PICKUP", false), ("COMPLETE", true), ("CANCELED", true), ("LATER_ADDED", false),
    ])
    func recogniseACompletedTrip(status: String, isOver: Bool) {
        var snapshot = FollowedSnapshot()
        snapshot.status = status
        #expect(snapshot.isOver == isOver)
    }

    @Test(arguments: [
        (
            trip,
            "/v1/providers/p/trips/t%201?view=JOURNEY_SHARING_V1S&currentRouteSegmentVersion=2026-01-05T10%3A00%3A00Z"
        ),
        (van, "/v1/providers/p/vehicles/v?currentRouteSegmentVersion=2026-01-05T10%3A00%3A00Z"),
        (delivery, "/v1/providers/p/deliveryVehicles/v"),
    ])
    func requestsSendTheKnownRouteVersion(resource: FollowedResource?, target: String) throws {
        let request = try #require(resource).request(
            to: try HTTPURL("https://fleetengine.googleapis.com"), token: "secret",
            routeVersion: "2026-01-05T10:00:00Z", limits: HTTPLimits())
        #expect(request.method == .get)
        #expect(request.url.target == target)
        #expect(request.headers["Authorization"] == "Bearer secret")
        #expect(request.body.isEmpty)
    }
}
