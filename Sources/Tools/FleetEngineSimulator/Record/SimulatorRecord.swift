import LinuxPlatform
import Reporting
import StrictJSON
package import TimeAndRandomness

/// The record of requests and responses, in bounded memory. Its counts are complete, but its lists contain only the
/// newest entries.
package struct SimulatorRecord: Sendable {
    private static let maximumRecent = 100

    package private(set) var vehicles: [ResourceName: VehicleRecord] = [:]
    /// The number of token requests by outcome, such as `200`, `503` or `reset`.
    package private(set) var tokenOutcomes: [String: Int] = [:]
    /// The number of requests to Fleet Engine by outcome.
    package private(set) var fleetOutcomes: [String: Int] = [:]
    package private(set) var recentRequests: [RequestRecord] = []
    package private(set) var tokensIssued = 0
    package private(set) var recentTokens: [TokenRecord] = []
    package private(set) var bytesReceived = 0
    package private(set) var bytesSent = 0

    package var tokenRequests: Int { tokenOutcomes.values.reduce(0, +) }
    package var fleetRequests: Int { fleetOutcomes.values.reduce(0, +) }

    mutating func add(_ update: AcceptedUpdate, at now: UTCTime) {
        vehicles[update.vehicle, default: VehicleRecord()].add(update, at: now)
    }

    mutating func add(_ request: RequestRecord, isForToken: Bool) {
        if isForToken {
            tokenOutcomes[request.outcome, default: 0] += 1
        } else {
            fleetOutcomes[request.outcome, default: 0] += 1
        }
        bytesReceived += request.bytesReceived
        bytesSent += request.bytesSent
        Self.append(request, to: &recentRequests)
    }

    mutating func add(_ token: TokenRecord) {
        tokensIssued += 1
        Self.append(token, to: &recentTokens)
    }

    private static func append<Element>(_ element: Element, to list: inout [Element]) {
        if list.count >= maximumRecent { list.removeFirst(list.count - maximumRecent + 1) }
        list.append(element)
    }
}

extension SimulatorRecord {
    /// The record as JSON: all counts and, for each vehicle, the delivered fix times in order.
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
        func sum(_ count: (VehicleRecord) -> Int) -> Int { vehicles.values.reduce(0) { $0 + count($1) } }
        var summary = jsonMembers([
            "vehicles": vehicles.count, "fleetRequests": fleetRequests, "tokenRequests": tokenRequests,
            "tokensIssued": tokensIssued, "updates": sum(\.updates), "distinctFixes": sum { $0.deliveries.count },
            "repeatedFixes": sum(\.repeatedFixes), "lastLocationsBackInTime": sum(\.order.lastLocationsBackInTime),
            "pastLocationsOutOfOrder": sum(\.order.pastLocationsOutOfOrder), "bytesReceived": bytesReceived,
            "bytesSent": bytesSent,
        ])
        summary["fleetOutcomes"] = .object(jsonMembers(fleetOutcomes))
        summary["tokenOutcomes"] = .object(jsonMembers(tokenOutcomes))
        return summary
    }
}

extension VehicleRecord {
    var counts: [String: JSONValue] {
        var counts = jsonMembers([
            "updates": updates, "lastLocations": lastLocations, "pastLocations": pastLocations,
            "distinctFixes": deliveries.count, "repeatedFixes": repeatedFixes, "untimedLocations": locationsWithoutTime,
            "forgottenFixTimes": forgottenFixTimes, "lastLocationsBackInTime": order.lastLocationsBackInTime,
            "pastLocationsOutOfOrder": order.pastLocationsOutOfOrder,
        ])
        counts["vehicleState"] = vehicleState.map(JSONValue.string) ?? .null
        return counts
    }
}

private func jsonMembers(_ counts: [String: Int]) -> [String: JSONValue] { counts.mapValues { .integer(Int64($0)) } }

package struct RequestRecord: Sendable, Hashable {
    package let receivedAt: UTCTime
    package let method: String
    /// The path without the query. It contains no token.
    package let path: String
    /// The HTTP status of the response; `nil` if no complete response was sent.
    package let status: Int?
    package let fault: String?
    /// The error message in the response; `nil` if the response isn't an error.
    package let message: String?
    package let bytesReceived: Int
    package let bytesSent: Int

    /// The outcome by which requests are counted. It is the HTTP status or, if no complete response was sent, the name
    /// of the fault.
    package var outcome: String { status.map(String.init) ?? fault ?? "none" }
}

/// A summary of an issued token, which doesn't contain the token itself. Times are in seconds since 1970.
package struct TokenRecord: Sendable, Hashable {
    package let kind: String
    package let id: String?
    package let issuedAt: Int64
    package let expiry: Int64
}

/// A file to which every committed update is appended, as JSON Lines.
final class RecordFile: Sendable {
    enum Form: Sendable {
        /// One line per position of a committed update.
        case positions
        /// One line per committed update. All times are times of fixes, in seconds since 1970. The time of the update
        /// itself is the time of its last location.
        case uploads

        /// The members that every line of this form has.
        fileprivate var members: [String] {
            switch self {
            case .positions: ["receivedAt", "vehicle", "kind", "latitude", "longitude"]
            case .uploads: ["time", "vehicle", "locations"]
            }
        }

        fileprivate var option: String {
            switch self {
            case .positions: "--record"
            case .uploads: "--record-uploads"
            }
        }
    }

    private let file: OwnedDescriptor
    private let form: Form

    /// Opens the file at `path` for appending, or creates it. Only the owner of the file may read it, because it
    /// contains positions of vehicles.
    ///
    /// - Throws: an error if the file can't be opened, or contains anything but a record in this form.
    init(path: String, _ form: Form) throws(SystemError) {
        guard try Self.mayAppend(to: path, form: form) else {
            throw SystemError(refusing: path, because: .notRecord(option: form.option))
        }
        file = try OwnedDescriptor(appendingTo: path)
        self.form = form
    }

    /// The number of bytes to read to get the first line. The first line of a record is always shorter.
    private static let maximumLineBytes = 1 << 20

    /// Whether the file is missing, empty, or a record that can be continued. The file of this process's standard
    /// output or error is always accepted.
    private static func mayAppend(to path: String, form: Form) throws(SystemError) -> Bool {
        guard let entry = try FileSystem.entry(at: path), entry.kind == .file, entry.bytes > 0,
            !OwnedDescriptor.isHandedOver(entry)
        else { return true }
        let line = try FileSystem.read(maximumLineBytes, at: 0, of: path).prefix { $0 != UInt8(ascii: "\n") }
        guard let record = try? JSONValue(parsing: Array(line)) else { return false }
        return form.members.allSatisfy { record[$0] != nil }
    }

    func append(_ update: AcceptedUpdate, at now: UTCTime) throws(SystemError) {
        let lines =
            switch form {
            case .positions: Self.positionLines(of: update, at: now)
            case .uploads: Self.uploadLine(for: update)
            }
        try file.writeAll(Array(lines.utf8).span)
    }

    /// Returns the line for an update. Returns an empty string if the update has no position, or if its last position
    /// has no time.
    private static func uploadLine(for update: AcceptedUpdate) -> String {
        func seconds(_ position: AcceptedUpdate.Position) -> JSONValue? {
            position.time.map { .number(Double($0.time.millisecondsSince1970) / 1000) }
        }
        guard let last = update.positions.last, let time = seconds(last) else { return "" }
        let locations = update.positions.compactMap { position -> JSONValue? in
            guard let time = seconds(position) else { return nil }
            return .object([
                "time": time, "latitude": .number(position.latitude), "longitude": .number(position.longitude),
                "speed": position.speedMetersPerSecond.map(JSONValue.number) ?? .null,
                "heading": position.headingDegrees.map { .integer(Int64($0)) } ?? .null,
            ])
        }
        return JSONValue.object([
            "time": time, "vehicle": .string(update.vehicle.description), "locations": .array(locations),
        ]).text + "\n"
    }

    private static func positionLines(of update: AcceptedUpdate, at now: UTCTime) -> String {
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
        return lines
    }
}
