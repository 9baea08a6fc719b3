import FleetEngine
import FoundationEssentials
import GNSS
import LinuxPlatform
import TrackDrawing
import Waypost

/// `waypost watch`: the consumer's side of a trip or vehicle, a line for every change.
struct WatchCommand {
    private let configuration: Configuration
    private let subject: Follower.Subject
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        switch (arguments.value("--trip"), arguments.value("--vehicle")) {
        case (let trip?, nil): subject = .trip(trip)
        case (nil, let vehicle?): subject = .vehicle(vehicle)
        case (nil, nil): throw UsageError("watch needs --trip ID or --vehicle ID", command: "watch")
        case (_?, _?): throw UsageError("watch takes --trip or --vehicle, not both", command: "watch")
        }
        asJSON = arguments.has("--json")
        configuration = try Configuration(file: arguments.value("--config") ?? "")
    }

    /// Ends when the trip does, or when told to stop.
    func run() async throws -> ExitStatus {
        try await Follower(configuration, subject).run { event in
            switch event {
            case .changed(let sighting):
                let line = SightingLine(sighting, now: .system)
                try StandardOutput.write(line: asJSON ? line.json : line.text)
            case .silent(let silence):
                Terminal.say("nothing new for \(Int(silence / .seconds(1))) s; an active vehicle reports once a minute")
            case .trouble(let words): Terminal.say("\(words) (asking again)")
            case .recovered: Terminal.say("it works again")
            }
        }
        return .done
    }
}

/// What `waypost watch` prints when something has changed.
struct SightingLine {
    private let sighting: Sighting
    private let now: UTCTime

    init(_ sighting: Sighting, now: UTCTime) { (self.sighting, self.now) = (sighting, now) }

    /// One line for a person, what is unknown left out:
    /// `10:15:32  53.550012, 10.000034 ±4 m  8.3 m/s  271°  2 s old  ENROUTE_TO_PICKUP  1240 m left  arrives 10:19:02`.
    var text: String {
        var parts = [FigureText.clock(now)]
        if let position = sighting.position {
            let accuracy = position.accuracyMeters.map { " ±\(FigureText.decimal($0, 0)) m" } ?? ""
            let (latitude, longitude) = (position.latitude, position.longitude)
            parts.append("\(FigureText.decimal(latitude, 6)), \(FigureText.decimal(longitude, 6))\(accuracy)")
            if let speed = position.speedMetersPerSecond { parts.append("\(FigureText.decimal(speed, 1)) m/s") }
            if let heading = position.headingDegrees { parts.append("\(heading)°") }
            parts.append(age.map { "\(FigureText.decimal($0, 0)) s old" } ?? "of unknown age")
        } else {
            parts.append("no position yet")
        }
        if let vehicleID = sighting.vehicleID { parts.append("vehicle \(vehicleID)") }
        if let status = sighting.status { parts.append(status) }
        if let distance = sighting.remainingDistanceMeters { parts.append("\(distance) m left") }
        if let arrival { parts.append("arrives \(FigureText.clock(arrival))") }
        return parts.joined(separator: "  ")
    }

    /// One JSON object, what is unknown left out.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let position = sighting.position
        let entry = Entry(
            accuracyMeters: position?.accuracyMeters, ageSeconds: age, arrival: arrival?.description,
            headingDegrees: position?.headingDegrees, latitude: position?.latitude, longitude: position?.longitude,
            readAt: now.description, remainingDistanceMeters: sighting.remainingDistanceMeters,
            speedMetersPerSecond: position?.speedMetersPerSecond, status: sighting.status,
            time: timeOfFix?.description, vehicleId: sighting.vehicleID)
        do { return String(decoding: try encoder.encode(entry), as: UTF8.self) } catch {
            preconditionFailure("JSON numbers are finite: \(error)")
        }
    }

    private struct Entry: Encodable {
        let accuracyMeters, ageSeconds: Double?
        let arrival: String?
        let headingDegrees: Int?
        let latitude, longitude: Double?
        let readAt: String
        let remainingDistanceMeters: Int?
        let speedMetersPerSecond: Double?
        let status, time, vehicleId: String?
    }

    private var timeOfFix: UTCTime? {
        (sighting.position?.timeOfFixMillisecondsSince1970).map(UTCTime.init(millisecondsSince1970:))
    }

    /// Seconds since the time of fix; a fix that is ahead of this machine's clock is new.
    private var age: Double? { timeOfFix.map { max(0, $0.duration(to: now) / .seconds(1)) } }

    private var arrival: UTCTime? {
        if let arrival = sighting.arrivalMillisecondsSince1970 { return UTCTime(millisecondsSince1970: arrival) }
        return sighting.remainingSeconds.map { now.advanced(by: .seconds(min(max($0, 0), 1e6))) }
    }
}
