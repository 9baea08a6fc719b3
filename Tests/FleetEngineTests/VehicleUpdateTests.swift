import FleetEngine
import HTTPMessages
import Testing

@Suite struct VehicleUpdates {
    static let location: VehicleLocation = {
        var location = VehicleLocation(
            latitude: 37.33820000049, longitude: -121.8863, timeMillisecondsSince1970: 1_767_608_130_250)
        location.accuracyMeters = 4.5
        location.headingDegrees = 271
        location.speedMetersPerSecond = 8.333333
        location.altitudeMeters = 23.1
        return location
    }()

    @Test func onDemandUpdatesArePuts() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        let older = VehicleLocation(
            latitude: 37.3379, longitude: -121.8851, timeMillisecondsSince1970: 1_767_608_060_000)
        let update = VehicleUpdate(
            of: vehicle, state: .online, lastLocation: Self.location, pastLocations: [older])
        let request = try update.request(
            to: HTTPURL("https://fleetengine.googleapis.com"), token: "secret", limits: HTTPLimits())
        #expect(request.method == .put)
        #expect(request.url.target == "/v1/providers/p/vehicles/v?updateMask=vehicleState,lastLocation,pastLocations")
        #expect(request.headers["authorization"] == "Bearer secret")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["x-goog-fieldmask"] == "name")
        #expect(
            String(decoding: request.body, as: UTF8.self) == """
                {"lastLocation":{"altitude":23.1,"heading":271,"speed":8.33,\
                "supplementalLocation":{"latitude":37.3382,"longitude":-121.8863},\
                "supplementalLocationAccuracy":4.5,"supplementalLocationSensor":"CUSTOMER_SUPPLIED_LOCATION",\
                "supplementalLocationTime":"2026-01-05T10:15:30.250Z"},\
                "pastLocations":[{"supplementalLocation":{"latitude":37.3379,"longitude":-121.8851},\
                "supplementalLocationTime":"2026-01-05T10:14:20Z"}],"vehicleState":"ONLINE"}
                """)
    }

    @Test func scheduledUpdatesArePatchesWithoutState() throws {
        let vehicle = try VehicleName(service: .scheduledTasks, providerID: "p", vehicleID: "v")
        let update = VehicleUpdate(of: vehicle, state: .online, lastLocation: Self.location)
        let request = try update.request(to: HTTPURL("http://127.0.0.1:8080"), token: "t", limits: HTTPLimits())
        #expect(request.method == .patch)
        #expect(request.url.target == "/v1/providers/p/deliveryVehicles/v?updateMask=lastLocation")
        #expect(!String(decoding: request.body, as: UTF8.self).contains("vehicleState"))
    }

    @Test func keepTheOriginalTimeWhenRepeated() throws {
        var location = Self.location
        location.secondsSinceFirstSent = 60
        let vehicle = try VehicleName(service: .scheduledTasks, providerID: "p", vehicleID: "v")
        let body = String(decoding: VehicleUpdate(of: vehicle, lastLocation: location).body, as: UTF8.self)
        #expect(body.contains(#""timeSinceUpdate":60"#))
        #expect(body.contains(#""supplementalLocationTime":"2026-01-05T10:15:30.250Z""#))
    }

    /// A shape point contains only a position and a time, because there may be as many shape points as requests.
    @Test func areSmallForAPastLocationWithoutMotion() throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
        func size(pastLocations count: Int) -> Int {
            let point = VehicleLocation(
                latitude: -37.3379001, longitude: -121.8851001, timeMillisecondsSince1970: 1_767_608_060_000)
            let locations = Array(repeating: point, count: count)
            return VehicleUpdate(of: vehicle, lastLocation: Self.location, pastLocations: locations).body.count
        }
        #expect(size(pastLocations: 11) - size(pastLocations: 10) == 125)
    }

    @Test(arguments: [0, 1, 999, 123_456_789_001, 1_767_608_130_250, 4_102_444_799_999] as [Int64])
    func keepEveryMillisecond(time: Int64) throws {
        let vehicle = try VehicleName(service: .scheduledTasks, providerID: "p", vehicleID: "v")
        let location = VehicleLocation(latitude: 1, longitude: 1, timeMillisecondsSince1970: time)
        let body = String(decoding: VehicleUpdate(of: vehicle, lastLocation: location).body, as: UTF8.self)
        let fraction = try #require(body.firstMatch(of: /T\d\d:\d\d:\d\d(\.\d{3})?Z"/)).1
        #expect(fraction.map(String.init) == (time % 1000 == 0 ? nil : "." + String(1000 + time % 1000).dropFirst()))
    }
}
