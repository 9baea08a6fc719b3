import FleetEngine
import GNSS
import ReportedText
import StrictJSON
import TimeAndRandomness
import TrackDrawing

/// The data that the page shows at one moment. The page requests new data every second.
struct PageView {
    /// The maximum number of track points on the map.
    private static let maximumPoints = 1500
    /// The maximum number of vehicles on the map and in the list of arrivals.
    private static let maximumShown = 40
    /// The maximum number of vehicle names that the page offers for selection.
    private static let maximumNames = 500
    private static let maximumTrips = 50
    /// The time for which a position is shown as current after its arrival. Older positions are shown as the last known
    /// ones. The time exceeds a minute, because a parked vehicle reports every minute.
    private static let maximumCurrentAge = Duration.seconds(75)

    let record: SimulatorRecord
    /// The name of the vehicle chosen on the page; `nil` if none is chosen. The page then shows all vehicles, or the
    /// details of the only vehicle.
    let selected: String?
    let now: UTCTime
    let startedAt: UTCTime
    let settings: SimulatorSettings
    let outages: ManualOutages
    let recordFailure: String?

    var json: JSONValue {
        let names = self.names
        let chosen = names.first { $0.description == selected } ?? (names.count == 1 ? names.first : nil)
        let window = ArrivalWindow(startedAt: startedAt, now: now)
        var page = record.summary
        page["now"] = Self.timeJSON(now)
        page["startedAt"] = Self.timeJSON(startedAt)
        page["faults"] = .array(settings.faults.descriptionsWithoutOutages.map(JSONValue.string))
        page["outages"] = .array(settings.faults.outages.map { Self.spanJSON(times(of: $0)) })
        page["outage"] = outage
        page["answeringSince"] = Self.timeJSON(answeringSince)
        page["nextOutage"] = settings.faults.nextOutage(after: elapsed).map { Self.spanJSON(times(of: $0)) } ?? .null
        page["recordFailure"] = recordFailure.map(JSONValue.string) ?? .null
        page["tokens"] = .array(record.recentTokens.suffix(6).reversed().map(Self.tokenJSON))
        page["requests"] = .array(record.recentRequests.suffix(12).reversed().map(Self.requestJSON))
        page["names"] = .array(names.prefix(Self.maximumNames).map { .string($0.description) })
        page["fleet"] = .array(names.prefix(Self.maximumShown).map { fleetEntry(of: $0, in: window) })
        page["window"] = .object([
            "start": .integer(window.start * 1000), "end": .integer(window.end * 1000),
            "barSeconds": .integer(window.barSeconds), "outages": .array(outages(in: window).map(Self.spanJSON)),
        ])
        page["trips"] = .array(trips)
        let drawing: Markup?
        if let chosen, let vehicle = record.vehicles[chosen] {
            page["vehicle"] = vehicleJSON(chosen, vehicle)
            drawing = self.drawing(of: vehicle)
        } else {
            drawing = fleetDrawing(of: names)
        }
        page["drawing"] = (drawing?.text).map(JSONValue.string) ?? .null
        if names.isEmpty { page["example"] = example }
        return .object(page)
    }

    private var names: [ResourceName] {
        record.vehicles.keys.map { ($0, $0.description) }.sorted { NaturalOrder.isBefore($0.1, $1.1) }.map(\.0)
    }

    /// A provider and a vehicle that this simulator accepts, for the example commands on the page.
    private var example: JSONValue {
        var vehicle = settings.trips.first?.vehicleID ?? "van-7"
        if case .listed(let ids) = settings.existence, !ids.contains(vehicle) {
            vehicle = ids.min(by: NaturalOrder.isBefore) ?? vehicle
        }
        return .object(["provider": .string(settings.providerID ?? "demo"), "vehicle": .string(vehicle)])
    }

    // MARK: Outages

    /// The number of seconds since the start of the simulator.
    private var elapsed: Double { startedAt.duration(to: now) / .seconds(1) }

    private func times(of seconds: ClosedRange<Double>) -> ClosedRange<UTCTime> {
        // A planned outage may last forever, so its end is limited to a time that can be represented.
        func moment(_ seconds: Double) -> UTCTime { startedAt.advanced(by: .seconds(min(seconds, 1e10))) }
        return moment(seconds.lowerBound)...moment(seconds.upperBound)
    }

    /// The current outage with its start and, if it ends as planned, its end.
    private var outage: JSONValue {
        let planned = settings.faults.outage(at: elapsed).map(times)
        guard let since = [outages.since, planned?.lowerBound].compactMap(\.self).min() else { return .null }
        let until = outages.since == nil ? planned?.upperBound : nil
        return .object(["since": Self.timeJSON(since), "until": until.map(Self.timeJSON) ?? .null])
    }

    /// The end of the last outage, or the start of the simulator.
    private var answeringSince: UTCTime {
        let ends = settings.faults.outages.map { times(of: $0).upperBound } + outages.past.map(\.upperBound)
        return max(startedAt, ends.filter { $0 <= now }.max() ?? startedAt)
    }

    private func outages(in window: ArrivalWindow) -> [ClosedRange<UTCTime>] {
        let start = UTCTime(millisecondsSince1970: window.start * 1000)
        let manual = outages.past + (outages.since.map { [$0...max($0, now)] } ?? [])
        // If the clock has been set back, an outage may begin later than now.
        return (settings.faults.outages.map(times) + manual).filter { $0.lowerBound < now && $0.upperBound > start }
            .map { max(start, $0.lowerBound)...max(start, min(now, $0.upperBound)) }
    }

    // MARK: Vehicles

    private func fleetEntry(of name: ResourceName, in window: ArrivalWindow) -> JSONValue {
        guard let vehicle = record.vehicles[name] else { return .null }
        return .object([
            "name": .string(name.description), "id": .string(name.id),
            "state": vehicle.vehicleState.map(JSONValue.string) ?? .null,
            "speed": vehicle.latest?.speedMetersPerSecond.map(JSONValue.number) ?? .null,
            "time": (vehicle.latest?.time?.time).map(Self.timeJSON) ?? .null,
            "fixes": .integer(Int64(vehicle.deliveries.count)), "late": .integer(Int64(vehicle.pastLocations)),
            "bars": .array(
                vehicle.arrivals.bars(in: window).map {
                    .array([.integer(Int64($0.live)), .integer(Int64($0.late))])
                }),
        ])
    }

    private func vehicleJSON(_ name: ResourceName, _ vehicle: VehicleRecord) -> JSONValue {
        var fields = vehicle.counts
        fields["name"] = .string(name.description)
        fields["id"] = .string(name.id)
        fields["service"] = .string(name.service == .onDemandTrips ? "on-demand" : "scheduled")
        fields["updatesPerMinute"] = .integer(Int64(vehicle.arrivals.updatesInLastMinute(now: now)))
        if let latest = vehicle.latest { fields["latest"] = positionJSON(latest) }
        return .object(fields)
    }

    private func positionJSON(_ position: AcceptedUpdate.Position) -> JSONValue {
        let map = WorldMapLink.address(latitude: position.latitude, longitude: position.longitude)
        return .object([
            "latitude": .number(position.latitude), "longitude": .number(position.longitude), "map": .string(map),
            "speed": position.speedMetersPerSecond.map(JSONValue.number) ?? .null,
            "heading": position.headingDegrees.map { .integer(Int64($0)) } ?? .null,
            "accuracy": position.accuracyMeters.map(JSONValue.number) ?? .null,
            "time": (position.time?.time).map(Self.timeJSON) ?? .null,
        ])
    }

    /// The trips. Vehicles of several providers may have the id of a trip's vehicle. Such a trip is listed once for
    /// each of these vehicles.
    private var trips: [JSONValue] {
        let trips = settings.trips.flatMap { trip in
            let names = record.vehicles.keys.filter { $0.id == trip.vehicleID && $0.service == .onDemandTrips }
            return names.isEmpty
                ? [(trip, nil)] : names.sorted { $0.description < $1.description }.map { (trip, record.vehicles[$0]) }
        }
        return trips.prefix(Self.maximumTrips).map { (trip: SimulatedTrip, vehicle: VehicleRecord?) in
            let progress = trip.progress(of: vehicle)
            return .object([
                "id": .string(trip.id), "vehicle": .string(trip.vehicleID), "status": .string(progress.status),
                "length": .number(trip.lengthMeters), "driven": .number(progress.drivenMeters),
                "destination": (progress.destination?.rawValue).map(JSONValue.string) ?? .null,
                "remaining": progress.remainingMeters.map { .integer(Int64($0.rounded())) } ?? .null,
                "arrival": progress.remainingMilliseconds.map { Self.timeJSON(now.advanced(by: .milliseconds($0))) }
                    ?? .null,
            ])
        }
    }

    // MARK: Drawings

    private func drawing(of vehicle: VehicleRecord) -> Markup? {
        var survey = TrackSurvey()
        var late: [Fix] = []
        for (fix, isLast) in fixes(of: vehicle, atMost: Self.maximumPoints) {
            survey.add(fix)
            if !isLast { late.append(fix) }
        }
        return TrackMap(survey, newest: newestFix(of: vehicle), isCurrent: isCurrent(vehicle), late: late)?.section
    }

    private func fleetDrawing(of names: [ResourceName]) -> Markup? {
        let shown = names.prefix(Self.maximumShown)
        let vehicles = shown.compactMap { name -> TrackMap.Vehicle? in
            guard let vehicle = record.vehicles[name], let newest = newestFix(of: vehicle) else { return nil }
            let track = fixes(of: vehicle, atMost: Self.maximumPoints / shown.count).map(\.fix)
            return TrackMap.Vehicle(name: name.id, newest: newest, track: track, isCurrent: isCurrent(vehicle))
        }
        return TrackMap(of: vehicles)?.section
    }

    /// Whether the newest position arrived recently enough to be current. The time of the fix doesn't matter, because a
    /// replay's fixes are as old as the log.
    private func isCurrent(_ vehicle: VehicleRecord) -> Bool {
        vehicle.positionArrivedAt.map { $0.duration(to: now) <= Self.maximumCurrentAge } ?? false
    }

    /// Returns evenly spaced points of the track, including the newest.
    private func fixes(of vehicle: VehicleRecord, atMost count: Int) -> [(fix: Fix, isLast: Bool)] {
        let points = vehicle.track
        let step = max(1, (points.count + count - 1) / count)
        var drawn = stride(from: 0, to: points.count, by: step).map { points[$0] }
        if let last = points.last, drawn.last != last { drawn.append(last) }
        var fixes: [(fix: Fix, isLast: Bool)] = []
        for point in drawn {
            var fix = Fix(timeOfFix: point.time.time, latitude: point.latitude, longitude: point.longitude)
            // Points that were reported only for the shape of the track contain no speed. For them, the speed is
            // computed from the times and coordinates of two points.
            fix.speedMetersPerSecond =
                point.speedMetersPerSecond ?? fixes.last.flatMap { Self.speed(from: $0.fix, to: fix) }
            fixes.append((fix, point.isLast))
        }
        return fixes
    }

    private static func speed(from earlier: Fix, to later: Fix) -> Double? {
        let seconds = earlier.timeOfFix.duration(to: later.timeOfFix) / .seconds(1)
        return seconds > 0 ? earlier.distance(to: later) / seconds : nil
    }

    private func newestFix(of vehicle: VehicleRecord) -> Fix? {
        vehicle.latest.map { latest in
            var fix = Fix(
                timeOfFix: latest.time?.time ?? now, latitude: latest.latitude, longitude: latest.longitude)
            fix.headingDegrees = latest.headingDegrees.map(Double.init)
            fix.horizontalAccuracyMeters = latest.accuracyMeters
            return fix
        }
    }

    // MARK: Values

    private static func timeJSON(_ time: UTCTime) -> JSONValue { .integer(time.millisecondsSince1970) }

    private static func spanJSON(_ span: ClosedRange<UTCTime>) -> JSONValue {
        .array([timeJSON(span.lowerBound), timeJSON(span.upperBound)])
    }

    private static func tokenJSON(_ token: TokenRecord) -> JSONValue {
        .object([
            "kind": .string(token.kind), "id": token.id.map(JSONValue.string) ?? .null,
            "issuedAt": .integer(token.issuedAt), "expiry": .integer(token.expiry),
        ])
    }

    private static func requestJSON(_ request: RequestRecord) -> JSONValue {
        .object([
            "at": .integer(request.receivedAt.millisecondsSince1970), "method": .string(request.method),
            "path": .string(ReportedText(request.path).description), "outcome": .string(request.outcome),
            "message": request.message.map { .string(ReportedText($0).description) } ?? .null,
            "bytes": .integer(Int64(request.bytesReceived)),
        ])
    }
}

/// The natural order of names, in which `van-2` comes before `van-10`.
enum NaturalOrder {
    /// Whether `one` comes before `other`. Numbers are compared by value, everything else by its bytes.
    static func isBefore(_ one: String, _ other: String) -> Bool {
        var left = Array(one.utf8)[...]
        var right = Array(other.utf8)[...]
        while let first = left.first, let second = right.first {
            if isDigit(first), isDigit(second) {
                let number = removeNumber(from: &left)
                let otherNumber = removeNumber(from: &right)
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) }
            } else if first == second {
                left.removeFirst()
                right.removeFirst()
            } else {
                return first < second
            }
        }
        if left.isEmpty, right.isEmpty { return one < other }  // names with equal numbers, such as van-07 and van-7
        return left.isEmpty
    }

    /// Removes the leading digits and returns them without leading zeros. If two results have different lengths, the
    /// longer result is the larger number.
    private static func removeNumber(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = bytes.prefix(while: isDigit)
        bytes = bytes.dropFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// The outages that `FleetEngineSimulator.beginOutage` started, which aren't part of the fault plan.
struct ManualOutages: Sendable {
    /// The start of the current outage; `nil` if there is none.
    private(set) var since: UTCTime?
    /// Past outages, the newest last.
    private(set) var past: [ClosedRange<UTCTime>] = []

    private static let maximumPast = 50

    mutating func setOutage(_ isOn: Bool, at now: UTCTime) {
        if let since {
            past.append(since...max(since, now))
            if past.count > Self.maximumPast { past.removeFirst() }
        }
        since = isOn ? now : nil
    }
}
