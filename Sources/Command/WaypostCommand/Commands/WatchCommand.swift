import FleetEngine
import LinuxPlatform
import ReportedText
import StrictJSON
import TimeAndRandomness
import TrackDrawing
import Operations

/// `waypost watch`: follows a trip or vehicle as a consumer's app does, and prints one line per change.
struct WatchCommand {
    private let configuration: Configuration
    private let subject: Follower.Subject
    /// A description of the trip or vehicle, such as `trip trip-7`.
    private let name: String
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        switch (arguments.value("--trip"), arguments.value("--vehicle")) {
        case (let trip?, nil):
            subject = .trip(trip)
            name = "trip \(trip)"
        case (nil, let vehicle?):
            subject = .vehicle(vehicle)
            name = "vehicle \(vehicle)"
        case (nil, nil): throw UsageError("watch needs --trip ID or --vehicle ID", command: "watch")
        case (_?, _?): throw UsageError("watch accepts --trip or --vehicle, not both", command: "watch")
        }
        asJSON = arguments.has("--json")
        configuration = try arguments.configuration()
    }

    /// Follows the trip or vehicle until the trip ends or the task is cancelled. Returns the exit status.
    func run() async throws -> ExitStatus {
        var changes = 0
        try await Follower(configuration, subject).run { event in
            switch event {
            case .changed(let snapshot):
                changes += 1
                let line = SnapshotLine(snapshot, now: .system)
                try StandardOutput.write(line: asJSON ? line.json : line.text)
            case .silent(let silence):
                Terminal.say(
                    "waypost: nothing new for \(Int(silence / .seconds(1))) s; an active vehicle reports at least once a minute"
                )
            case .trouble(let words): Terminal.say("waypost: \(words) (retrying)")
            case .recovered: Terminal.say("waypost: requests succeed again")
            }
        }
        if Task.isCancelled { throw Interruption("saw \(changes.counted("change")) to \(name)") }
        return .done
    }
}

/// The line that `waypost watch` prints when the trip or vehicle has changed.
struct SnapshotLine {
    private let snapshot: FollowedSnapshot
    private let now: UTCTime

    init(_ snapshot: FollowedSnapshot, now: UTCTime) {
        self.snapshot = snapshot
        self.now = now
    }

    /// The line as text. Unknown values are left out. An example with all values except the vehicle's id is
    /// `10:15:32  53.550012, 10.000034 ±4 m  8.3 m/s  271°  2 s old  ENROUTE_TO_PICKUP  1240 m left  arrives 10:19:02`.
    var text: String {
        var parts = [FigureText.timeOfDay(now)]
        if let position = snapshot.position {
            let accuracy = position.accuracyMeters.map { " ±\(FigureText.decimal($0, places: 0)) m" } ?? ""
            let latitude = position.latitude
            let longitude = position.longitude
            parts.append(
                "\(FigureText.decimal(latitude, places: 6)), \(FigureText.decimal(longitude, places: 6))\(accuracy)")
            if let speed = position.speedMetersPerSecond { parts.append("\(FigureText.decimal(speed, places: 1)) m/s") }
            if let heading = position.headingDegrees { parts.append("\(heading)°") }
            parts.append(age.map { "\(FigureText.decimal($0, places: 0)) s old" } ?? "of unknown age")
        } else {
            parts.append("no position yet")
        }
        if let vehicleID = snapshot.vehicleID { parts.append("vehicle \(vehicleID)") }
        if let status = snapshot.status { parts.append(status) }
        if let distance = snapshot.remainingDistanceMeters { parts.append("\(distance) m left") }
        if let arrival { parts.append("arrives \(FigureText.timeOfDay(arrival))") }
        return parts.joined(separator: "  ")
    }

    /// The line as a JSON object. Unknown values are left out.
    var json: String {
        let position = snapshot.position
        let members: [String: JSONValue?] = [
            "accuracyMeters": position?.accuracyMeters.map(JSONValue.number), "ageSeconds": age.map(JSONValue.number),
            "arrival": (arrival?.description).map(JSONValue.string),
            "headingDegrees": position?.headingDegrees.map { .integer(Int64($0)) },
            "latitude": (position?.latitude).map(JSONValue.number),
            "longitude": (position?.longitude).map(JSONValue.number), "readAt": .string(now.description),
            "remainingDistanceMeters": snapshot.remainingDistanceMeters.map { .integer(Int64($0)) },
            "speedMetersPerSecond": position?.speedMetersPerSecond.map(JSONValue.number),
            "status": snapshot.status.map(JSONValue.string), "time": (timeOfFix?.description).map(JSONValue.string),
            "vehicleId": snapshot.vehicleID.map(JSONValue.string),
        ]
        return JSONValue.object(members.compactMapValues(\.self)).text
    }

    private var timeOfFix: UTCTime? {
        (snapshot.position?.timeOfFixMillisecondsSince1970).map(UTCTime.init(millisecondsSince1970:))
    }

    /// The age of the fix in seconds; 0 if the time of the fix is ahead of this machine's clock, `nil` if the time is
    /// unknown.
    private var age: Double? { timeOfFix.map { max(0, $0.duration(to: now) / .seconds(1)) } }

    private var arrival: UTCTime? {
        if let arrival = snapshot.arrivalMillisecondsSince1970 { return UTCTime(millisecondsSince1970: arrival) }
        return snapshot.remainingSeconds.map { now.advanced(by: .seconds(min(max($0, 0), 1e6))) }
    }
}
