import FleetEngine
import HTTPMessages
import HTTPService
import StrictJSON
import Testing
import TimeAndRandomness

@testable import FleetEngineSimulator

/// The data that the simulator's page requests every second.
@Suite struct PageViews {
    private static func report(to backend: SimulatedBackend, vehicle: String, second: Int = 0) async throws {
        let time = UTCTime(millisecondsSince1970: (SimulatedBackend.initialSeconds + Int64(second)) * 1000)
        let body = """
            {"lastLocation":{"location":{"latitude":\(53.55 + Double(second) / 10_000),"longitude":10},
             "updateTime":"\(time)","speed":10}}
            """
        let token = try await backend.token("driver/\(vehicle)")
        let answer = try await backend.send(
            .put, "vehicles/\(vehicle)?updateMask=lastLocation", token: token, body: body)
        #expect(answer.status == 200)
    }

    private static func vehicleIDs(in page: JSONValue) -> [String] {
        (page["fleet"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
    }

    @Test func showSeveralVehiclesInNaturalOrder() async throws {
        let backend = try SimulatedBackend()
        for vehicle in ["van-10", "van-2", "van-1"] { try await Self.report(to: backend, vehicle: vehicle) }
        let page = try await backend.get("/page.json")
        #expect(Self.vehicleIDs(in: page) == ["van-1", "van-2", "van-10"])
        #expect(page["names"]?.arrayValue?.last?.stringValue == "providers/p/vehicles/van-10")
        #expect(page["vehicle"] == nil)
        let drawing = try #require(page["drawing"]?.stringValue)
        #expect(drawing.contains("<title>van-2</title>"))
        let one = try await backend.get("/page.json?vehicle=providers/p/vehicles/van-2")
        #expect(one["vehicle"]?["id"]?.stringValue == "van-2")
        #expect(
            one["vehicle"]?["latest"]?["map"]?.stringValue?.hasPrefix("https://www.openstreetmap.org/?mlat=53.55")
                == true)
        #expect(one["drawing"]?.stringValue?.contains("<title>van-2</title>") == false)
    }

    @Test func showAPartOfALargeFleetAndItsSize() async throws {
        let backend = try SimulatedBackend()
        for number in 1...45 { try await Self.report(to: backend, vehicle: "van-\(number)") }
        let page = try await backend.get("/page.json")
        #expect(Self.vehicleIDs(in: page) == (1...40).map { "van-\($0)" })
        #expect(page["vehicles"]?.integerValue == 45 && page["names"]?.arrayValue?.count == 45)
    }

    @Test func showAStripOfBarsPerVehicle() async throws {
        let backend = try SimulatedBackend()
        try await Self.report(to: backend, vehicle: "van")
        backend.advance(by: 30)
        let body = """
            {"pastLocations":[{"location":{"latitude":53.56,"longitude":10},"updateTime":"2026-01-05T10:15:20Z"}],
             "lastLocation":{"location":{"latitude":53.57,"longitude":10},"updateTime":"2026-01-05T10:15:30Z"}}
            """
        #expect(try await backend.sendUpdate(body, mask: "pastLocations,lastLocation").status == 200)
        let page = try await backend.get("/page.json")
        let bars = try #require(page["fleet"]?[0]?["bars"]?.arrayValue).map {
            [$0[0]?.integerValue, $0[1]?.integerValue]
        }
        #expect(bars.count == 60 && bars.last == [1, 1] && bars[44] == [1, 0])
        #expect(bars.count { $0 != [0, 0] } == 2)
        let window = try #require(page["window"])
        #expect(window["end"]?.integerValue == (SimulatedBackend.initialSeconds + 32) * 1000)
        #expect(window["start"]?.integerValue == (SimulatedBackend.initialSeconds - 88) * 1000)
    }

    /// A shape point has no speed. It gets the colour of the average speed since the previous point.
    @Test func colourShapePointsBySpeed() async throws {
        /// Returns the paths of a drive of 100 m in the first ten seconds, and 10 m in every ten seconds after that. A
        /// degree of latitude is 111.2 km.
        func paths(speeds: [String]) async throws -> [Substring] {
            let backend = try SimulatedBackend()
            let places = speeds.enumerated().map { index, speed in
                let time = UTCTime(millisecondsSince1970: (SimulatedBackend.initialSeconds + Int64(index) * 10) * 1000)
                let latitude = 53.55 + (index == 0 ? 0 : 90 + Double(index) * 10) / 111_195
                return #"{"location":{"latitude":\#(latitude),"longitude":10},"updateTime":"\#(time)"\#(speed)}"#
            }
            let past = places.dropLast().joined(separator: ",")
            let body = #"{"pastLocations":[\#(past)],"lastLocation":\#(places[places.count - 1])}"#
            #expect(try await backend.sendUpdate(body, mask: "pastLocations,lastLocation").status == 200)
            let drawing = try #require(try await backend.get("/page.json")["drawing"]?.stringValue)
            return drawing.matches(of: #/ d="([^"]*)"/#).map(\.1)
        }
        let stated = try await paths(speeds: [10, 10, 1, 1, 1, 1].map { #","speed":\#($0)"# })
        let derived = try await paths(speeds: [#","speed":10"#, "", "", "", "", #","speed":1"#])
        #expect(!stated.isEmpty && derived == stated)
    }

    @Test func showTheEndOfAnOutage() async throws {
        let backend = try SimulatedBackend { $0.faults.outages = [10...20, 20...35, 60...90] }
        func times(_ seconds: Int64...) -> [Int64] { seconds.map { (SimulatedBackend.initialSeconds + $0) * 1000 } }
        func next(_ page: JSONValue) -> [Int64] { (page["nextOutage"]?.arrayValue ?? []).compactMap(\.integerValue) }
        var page = try await backend.get("/page.json")
        #expect(page["answeringSince"]?.integerValue == times(0)[0])
        #expect(page["outage"] == .null && next(page) == times(10, 35))
        backend.advance(by: 12)
        page = try await backend.get("/page.json")
        #expect(page["outage"]?["since"]?.integerValue == times(10)[0])
        #expect(page["outage"]?["until"]?.integerValue == times(35)[0])
        #expect(page["faults"]?.arrayValue == [] && page["outages"]?.arrayValue?.count == 3)
        backend.advance(by: 30)
        page = try await backend.get("/page.json")
        #expect(page["outage"] == .null && next(page) == times(60, 90))
        #expect(page["answeringSince"]?.integerValue == times(35)[0])
        // The chart also shows past outages.
        await backend.engine.setOutage(true)
        backend.advance(by: 5)
        page = try await backend.get("/page.json")
        #expect(page["outage"]?["since"]?.integerValue == times(42)[0] && page["outage"]?["until"] == .null)
        await backend.engine.setOutage(false)
        backend.advance(by: 5)
        page = try await backend.get("/page.json")
        let shown = (page["window"]?["outages"]?.arrayValue ?? []).map { $0.arrayValue?.compactMap(\.integerValue) }
        #expect(shown == [times(10, 20), times(20, 35), times(42, 47)])
        #expect(page["answeringSince"]?.integerValue == times(47)[0])
    }

    /// A position's age is counted from its arrival, because a replay's fixes are as old as its log. A parked vehicle
    /// reports every minute.
    @Test(arguments: ["", "?vehicle=providers/p/vehicles/van"])
    func showWhenAVehicleLastReported(query: String) async throws {
        let backend = try SimulatedBackend()
        try await Self.report(to: backend, vehicle: "van", second: -600)
        if query.isEmpty { try await Self.report(to: backend, vehicle: "bus", second: -600) }
        func drawing() async throws -> String {
            try #require(try await backend.get("/page.json" + query)["drawing"]?.stringValue)
        }
        backend.advance(by: 65)
        #expect(try await drawing().contains("vehicle now"))
        backend.advance(by: 60)
        let map = try await drawing()
        #expect(map.contains("last position") && !map.contains("vehicle now") && !map.contains(">now "))
        // An update of the state doesn't make the position current.
        let token = try await backend.token("driver/van")
        let answer = try await backend.send(
            .put, "vehicles/van?updateMask=vehicleState", token: token, body: #"{"vehicleState":"OFFLINE"}"#)
        #expect(answer.status == 200)
        #expect(try await drawing().contains("vehicle now") == false)
        try await Self.report(to: backend, vehicle: "van", second: -480)
        #expect(try await drawing().contains("vehicle now"))
    }

    /// `waypost check` rejects a relative path, because its meaning depends on the service's directory.
    @Test func offerAConfigurationWithAnAbsolutePath() async throws {
        let backend = try SimulatedBackend.shared.get()
        let page = String(
            decoding: await backend.engine.respond(to: ServedRequest(.get, "/")).response.body, as: UTF8.self)
        #expect(page.contains(#""outbox": { "path": "$PWD/"#) && page.contains("cat > try.json <<END"))
    }

    @Test func showNoFutureOutageAfterTheClockWasSetBack() async throws {
        let backend = try SimulatedBackend()
        await backend.engine.setOutage(true)
        await backend.engine.setOutage(false)
        await backend.engine.setOutage(true)
        backend.advance(by: -3600)
        let page = try await backend.get("/page.json")
        #expect(page["window"]?["outages"]?.arrayValue == [])
    }

    @Test func drawAVehicleThatReportsAnAbsurdSpeed() async throws {
        let backend = try SimulatedBackend()
        let body = """
            {"lastLocation":{"location":{"latitude":53.57,"longitude":10},"speed":-1e300,
             "updateTime":"2026-01-05T10:15:30Z"}}
            """
        #expect(try await backend.sendUpdate(body, mask: "lastLocation").status == 200)
        #expect(try await backend.get("/page.json")["drawing"]?.stringValue != nil)
    }

    @Test func showTripsWithDestinationRemainingDistanceAndState() async throws {
        let backend = try SimulatedBackend {
            $0.trips = [SimulatedTrip(id: "trip", vehicleID: "van", lengthMeters: 1000)]
        }
        func trip() async throws -> JSONValue { try #require(try await backend.get("/page.json")["trips"]?[0]) }
        var shown = try await trip()
        #expect(shown["status"]?.stringValue == "NEW" && shown["destination"]?.stringValue == "pickup")
        for second in 0..<10 { try await Self.report(to: backend, vehicle: "van", second: second * 6) }
        shown = try await trip()
        #expect(shown["id"]?.stringValue == "trip" && shown["vehicle"]?.stringValue == "van")
        #expect(shown["status"]?.stringValue == "ENROUTE_TO_DROPOFF" && shown["destination"]?.stringValue == "drop-off")
        #expect(shown["remaining"]?.integerValue == 400)
        let arrival = try #require(shown["arrival"]?.integerValue) - SimulatedBackend.initialSeconds * 1000
        #expect((39_900...40_000).contains(arrival))
        for second in 10..<20 { try await Self.report(to: backend, vehicle: "van", second: second * 6) }
        shown = try await trip()
        #expect(shown["status"]?.stringValue == "COMPLETE" && shown["destination"] == .null)
        #expect(shown["remaining"] == .null && shown["driven"]?.doubleValue == 1000)
    }

    @Test(
        arguments: [
            (nil, [], "demo", "van-7"), ("acme", ["bus-10", "bus-9"], "acme", "bus-9"),
            (nil, ["van-7", "a"], "demo", "van-7"),
        ] as [(String?, [String], String, String)])
    func showAnExampleConfigurationThatIsAccepted(
        provider: String?, listed: [String], named: String, vehicle: String
    ) async throws {
        let backend = try SimulatedBackend {
            $0.providerID = provider
            if !listed.isEmpty { $0.existence = .listed(Set(listed)) }
        }
        let page = try await backend.get("/page.json")
        #expect(
            page["example"]?["provider"]?.stringValue == named && page["example"]?["vehicle"]?.stringValue == vehicle)
    }

    @Test func hideTheExampleOnceAVehicleReports() async throws {
        let backend = try SimulatedBackend()
        try await Self.report(to: backend, vehicle: "van")
        #expect(try await backend.get("/page.json")["example"] == nil)
    }

    /// The page loads no other file, and shows names of vehicles as text only.
    @Test func loadNoExternalResources() async throws {
        let backend = try SimulatedBackend()
        let served = await backend.engine.respond(to: ServedRequest(.get, "/"))
        let page = String(decoding: served.response.body, as: UTF8.self)
        for word in ["https:", "<link", "@import", "url(", "src="] { #expect(!page.contains(word), "\(word)") }
        #expect(page.ranges(of: "http:").count == page.ranges(of: "http://www.w3.org/2000/svg").count)
        #expect(page.ranges(of: "innerHTML").count == 1)
        #expect(
            served.response.headers["Content-Security-Policy"]
                == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
    }
}
