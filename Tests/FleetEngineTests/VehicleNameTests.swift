import FleetEngine
import HTTPMessages
import Testing

@Suite struct VehicleNames {
    @Test(arguments: [
        ("", VehicleName.Problem.empty), ("a/b", .forbiddenCharacter("/")), ("a:b", .forbiddenCharacter(":")),
        ("a?b", .forbiddenCharacter("?")), ("a,b", .forbiddenCharacter(",")), ("a#b", .forbiddenCharacter("#")),
        ("a\nb", .forbiddenCharacter("\n")), (String(repeating: "x", count: 65), .tooLong(65)),
        ("e\u{301}", .notNormalized("\u{301}")),
    ]) func areRejected(id: String, problem: VehicleName.Problem) {
        #expect(throws: problem) { try VehicleName.validate(id) }
    }

    @Test(arguments: ["van-7", "Wagen 7", "çédille", "車両", String(repeating: "x", count: 64), "50%"])
    func areAccepted(id: String) throws { try VehicleName.validate(id) }

    @Test func formAPath() throws {
        let endpoint = try HTTPURL("https://fleetengine.googleapis.com")
        let van = try VehicleName(
            service: .onDemandTrips, providerID: "my-project", vehicleID: "van 7/é".replacing("/", with: "-"))
        #expect(try van.url(below: endpoint).target == "/v1/providers/my-project/vehicles/van%207-%C3%A9")
        let cart = try VehicleName(service: .scheduledTasks, providerID: "p", vehicleID: "c")
        #expect(
            try cart.url(below: endpoint, query: "updateMask=lastLocation").description
                == "https://fleetengine.googleapis.com/v1/providers/p/deliveryVehicles/c?updateMask=lastLocation")
    }
}
