import FleetEngine
import LinuxPlatform
import StrictJSON

/// The complete record as JSON Lines: one line for each position of each committed update.
struct RecordFile: ~Copyable {
    private let file: OwnedDescriptor

    /// Appends to the file at `path`, which may hold positions of other people's vehicles: it is for its owner only.
    init(path: String) throws(SystemError) { file = try OwnedDescriptor(appendingTo: path) }

    func append(_ update: AcceptedUpdate, at now: WireTime) throws(SystemError) {
        var lines = ""
        for position in update.positions {
            var line: [String: JSONValue] = [
                "receivedAt": .string(now.description), "vehicle": .string(update.vehicle.description),
                "kind": .string(position.isLast ? "last" : "past"), "latitude": .number(position.latitude),
                "longitude": .number(position.longitude),
            ]
            line["time"] = (position.time?.description).map(JSONValue.string)
            line["speedMetersPerSecond"] = position.speedMetersPerSecond.map(JSONValue.number)
            line["headingDegrees"] = position.headingDegrees.map { .integer(Int64($0)) }
            line["timeSinceUpdateSeconds"] = position.timeSinceUpdateSeconds.map { .integer(Int64($0)) }
            lines += JSONValue.object(line).text + "\n"
        }
        try file.writeAll(Array(lines.utf8).span)
    }
}
