import FleetEngine
import StrictJSON

extension SimulatorRecord {
    /// The whole record: counts, and for each vehicle every delivered fix time in order.
    var json: JSONValue {
        var vehicles: [String: JSONValue] = [:]
        for (name, vehicle) in self.vehicles {
            var counts = vehicle.counts
            counts["fixTimes"] = .array(vehicle.fixTimes.map { .string($0.description) })
            vehicles[name.description] = .object(counts)
        }
        return .object(["summary": .object(summary), "vehicles": .object(vehicles)])
    }

    var summary: [String: JSONValue] {
        func sum(_ count: (VehicleRecord) -> Int) -> JSONValue {
            .integer(Int64(vehicles.values.reduce(0) { $0 + count($1) }))
        }
        return [
            "vehicles": .integer(Int64(vehicles.count)),
            "fleetRequests": .integer(Int64(fleetRequests)),
            "fleetOutcomes": .object(fleetOutcomes.mapValues { .integer(Int64($0)) }),
            "tokenRequests": .integer(Int64(tokenRequests)),
            "tokenOutcomes": .object(tokenOutcomes.mapValues { .integer(Int64($0)) }),
            "tokensIssued": .integer(Int64(tokensIssued)),
            "updates": sum(\.updates),
            "distinctFixes": sum { $0.deliveries.count },
            "repeatedFixes": sum(\.repeats),
            "lastLocationsBackInTime": sum(\.lastLocationsBackInTime),
            "pastLocationsOutOfOrder": sum(\.pastLocationsOutOfOrder),
            "bytesReceived": .integer(Int64(bytesReceived)),
            "bytesSent": .integer(Int64(bytesSent)),
        ]
    }
}

extension VehicleRecord {
    var counts: [String: JSONValue] {
        [
            "updates": .integer(Int64(updates)),
            "lastLocations": .integer(Int64(lastLocations)),
            "pastLocations": .integer(Int64(pastLocations)),
            "distinctFixes": .integer(Int64(deliveries.count)),
            "repeatedFixes": .integer(Int64(repeats)),
            "untimedLocations": .integer(Int64(untimed)),
            "forgottenFixTimes": .integer(Int64(forgottenFixTimes)),
            "lastLocationsBackInTime": .integer(Int64(lastLocationsBackInTime)),
            "pastLocationsOutOfOrder": .integer(Int64(pastLocationsOutOfOrder)),
            "vehicleState": vehicleState.map(JSONValue.string) ?? .null,
        ]
    }
}
