import FleetEngine
import GNSS
import ReportedText
import StrictJSON
import TimeAndChance
import TrackDrawing

/// What the page shows, once a second.
struct PageView {
    /// So many points of a track are sent; a browser draws them without effort.
    private static let maximumPoints = 1500

    let record: SimulatorRecord
    /// The vehicle the reader chose; `nil` shows the one that reported last.
    let selected: String?
    let now: UTCTime
    let startedAt: UTCTime
    let faults: FaultPlan
    let outageSince: UTCTime?
    let recordFailure: String?

    var json: JSONValue {
        var page = record.summary
        page["now"] = .integer(now.millisecondsSince1970)
        page["startedAt"] = .integer(startedAt.millisecondsSince1970)
        page["faults"] = .array(faults.words.map(JSONValue.string))
        page["outageSince"] = (outageSince?.millisecondsSince1970).map(JSONValue.integer) ?? .null
        page["recordFailure"] = recordFailure.map(JSONValue.string) ?? .null
        page["tokens"] = .array(record.recentTokens.suffix(6).reversed().map(Self.token))
        page["requests"] = .array(record.recentRequests.suffix(12).reversed().map(Self.request))
        let names = record.vehicles.keys.sorted { $0.description < $1.description }
        page["names"] = .array(names.prefix(500).map { .string($0.description) })
        if let name = names.first(where: { $0.description == selected }) ?? latestReporter,
            let vehicle = record.vehicles[name]
        {
            page["vehicle"] = self.vehicle(name, vehicle)
        }
        return .object(page)
    }

    private var latestReporter: ResourceName? {
        record.vehicles.max {
            let (one, other) = ($0.value.latestReceivedAt, $1.value.latestReceivedAt)
            guard let one, let other, one != other else { return one == nil && other != nil }
            return one < other
        }?.key
    }

    private func vehicle(_ name: ResourceName, _ vehicle: VehicleRecord) -> JSONValue {
        var fields = vehicle.counts
        fields["name"] = .string(name.description)
        fields["id"] = .string(name.id)
        fields["service"] = .string(name.service == .onDemandTrips ? "on-demand" : "scheduled")
        fields["updatesPerMinute"] = .integer(Int64(vehicle.updatesInLastMinute(now: now)))
        if let latest = vehicle.latest { fields["latest"] = position(latest) }
        fields["drawing"] = (drawing(of: vehicle)?.text).map(JSONValue.string) ?? .null
        return .object(fields)
    }

    private func drawing(of vehicle: VehicleRecord) -> Markup? {
        let points = vehicle.track
        let step = max(1, (points.count + Self.maximumPoints - 1) / Self.maximumPoints)
        var drawn = stride(from: 0, to: points.count, by: step).map { points[$0] }
        if let last = points.last, drawn.last != last { drawn.append(last) }
        var survey = TrackSurvey()
        var late: [Fix] = []
        for point in drawn {
            var fix = Fix(timeOfFix: point.time.time, latitude: point.latitude, longitude: point.longitude)
            fix.speedMetersPerSecond = point.speedMetersPerSecond
            survey.add(fix)
            if !point.isLast { late.append(fix) }
        }
        let newest = vehicle.latest.map { latest in
            var fix = Fix(
                timeOfFix: latest.time?.time ?? now, latitude: latest.latitude, longitude: latest.longitude)
            fix.headingDegrees = latest.headingDegrees.map(Double.init)
            fix.horizontalAccuracyMeters = latest.accuracyMeters
            return fix
        }
        return TrackMap(survey, newest: newest, late: late)?.section
    }

    private func position(_ position: AcceptedUpdate.Position) -> JSONValue {
        .object([
            "latitude": .number(position.latitude), "longitude": .number(position.longitude),
            "speed": position.speedMetersPerSecond.map(JSONValue.number) ?? .null,
            "heading": position.headingDegrees.map { .integer(Int64($0)) } ?? .null,
            "accuracy": position.accuracyMeters.map(JSONValue.number) ?? .null,
            "time": (position.time?.time.millisecondsSince1970).map(JSONValue.integer) ?? .null,
        ])
    }

    private static func token(_ token: TokenRecord) -> JSONValue {
        .object([
            "kind": .string(token.kind), "id": token.id.map(JSONValue.string) ?? .null,
            "issuedAt": .integer(token.issuedAt), "expiry": .integer(token.expiry),
        ])
    }

    private static func request(_ request: RequestRecord) -> JSONValue {
        .object([
            "at": .integer(request.receivedAt.millisecondsSince1970), "method": .string(request.method),
            "path": .string(ReportedText(request.path).description), "outcome": .string(request.outcome),
            "message": request.message.map { .string(ReportedText($0).description) } ?? .null,
            "bytes": .integer(Int64(request.bytesReceived)),
        ])
    }
}
