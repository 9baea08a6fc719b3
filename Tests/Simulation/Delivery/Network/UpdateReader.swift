import FleetEngine
import HTTPMessages
import StrictJSON
import TimeAndRandomness

/// A reader that checks an update's names, mask, types and ranges as strictly as Fleet Engine.
enum UpdateReader {
    struct Update {
        var last: UpdateKey?
        var past: [UpdateKey]
    }

    struct Problem: Error { let message: String }

    static func read(_ request: HTTPRequest, for vehicle: VehicleName) -> Result<Update, Problem> {
        do throws(Problem) { return .success(try update(in: request, for: vehicle)) } catch { return .failure(error) }
    }

    static func state(of request: HTTPRequest) -> String? {
        (try? JSONValue(parsing: request.body))?["vehicleState"]?.stringValue
    }

    private static func update(in request: HTTPRequest, for vehicle: VehicleName) throws(Problem) -> Update {
        let parts = request.url.target.split(separator: "?", maxSplits: 1)
        try require(parts.first.map(String.init) == "/v1/\(vehicle)", "the address is \(request.url.target)")
        try require(parts.count == 2 && parts[1].hasPrefix("updateMask="), "there is no update mask")
        let mask = parts[1].dropFirst("updateMask=".count).split(separator: ",").map(String.init)
        let method: HTTPMethod = vehicle.service == .onDemandTrips ? .put : .patch
        try require(request.method == method, "the method is \(request.method.rawValue)")
        let body: [String: JSONValue]
        do {
            guard let members = try JSONValue(parsing: request.body).objectValue else {
                throw Problem(message: "the body isn't an object")
            }
            body = members
        } catch let error as Problem { throw error } catch { throw Problem(message: "the body isn't JSON: \(error)") }
        try require(Set(mask) == Set(body.keys) && !mask.isEmpty, "mask \(mask) and members \(body.keys) differ")
        if let state = body["vehicleState"] {
            try require(["ONLINE", "OFFLINE"].contains(state.stringValue), "the state is \(state)")
        }
        var update = Update(past: [])
        if let last = body["lastLocation"] { update.last = try location(last, namesSensor: true) }
        for past in body["pastLocations"]?.arrayValue ?? [] {
            update.past.append(try location(past, namesSensor: false))
        }
        try require(update.past.isEmpty || update.last != nil, "there are past locations without a last one")
        return update
    }

    private static func location(_ value: JSONValue, namesSensor: Bool) throws(Problem) -> UpdateKey {
        guard let members = value.objectValue else { throw Problem(message: "a location isn't an object") }
        for (name, value) in members { try checkMember(name, value: value) }
        guard let place = members["supplementalLocation"], let latitude = place["latitude"]?.doubleValue,
            let longitude = place["longitude"]?.doubleValue, abs(latitude) <= 90, abs(longitude) <= 180
        else { throw Problem(message: "a location has no place") }
        guard let time = members["supplementalLocationTime"]?.stringValue.flatMap(UTCTime.init(rfc3339:)) else {
            throw Problem(message: "a location has no time")
        }
        try require(
            (members["supplementalLocationSensor"] != nil) == namesSensor, "only the last location must name its sensor"
        )
        return UpdateKey(time: time, latitude: latitude, longitude: longitude)
    }

    private static func checkMember(_ name: String, value: JSONValue) throws(Problem) {
        let isGood =
            switch name {
            case "supplementalLocation", "supplementalLocationTime", "supplementalLocationSensor": true
            case "supplementalLocationAccuracy", "speed": (value.doubleValue ?? -1) >= 0
            case "heading": (0..<360).contains(value.integerValue ?? -1)
            case "altitude": value.doubleValue != nil
            case "timeSinceUpdate": (value.integerValue ?? -1) >= 0
            default: false
            }
        try require(isGood, "\(name) is \(value)")
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(Problem) {
        if !condition { throw Problem(message: message()) }
    }
}
