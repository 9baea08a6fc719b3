import FleetEngine
import FoundationEssentials
import GNSS

/// What `waypost watch` prints when something has changed.
struct SightingLine {
    private let sighting: Sighting
    private let now: UTCTime

    init(_ sighting: Sighting, now: UTCTime) { (self.sighting, self.now) = (sighting, now) }

    /// One line for a person, what is unknown left out:
    /// `10:15:32  53.550012, 10.000034 ±4 m  8.3 m/s  271°  2 s old  ENROUTE_TO_PICKUP  1240 m left  arrives 10:19:02`.
    var text: String {
        var parts = [now.clock]
        if let position = sighting.position {
            let accuracy = position.accuracyMeters.map { " ±\($0.fixed(0)) m" } ?? ""
            parts.append("\(position.latitude.fixed(6)), \(position.longitude.fixed(6))\(accuracy)")
            if let speed = position.speedMetersPerSecond { parts.append("\(speed.fixed(1)) m/s") }
            if let heading = position.headingDegrees { parts.append("\(heading)°") }
            parts.append(age.map { "\($0.fixed(0)) s old" } ?? "of unknown age")
        } else {
            parts.append("no position yet")
        }
        if let vehicleID = sighting.vehicleID { parts.append("vehicle \(vehicleID)") }
        if let status = sighting.status { parts.append(status) }
        if let distance = sighting.remainingDistanceMeters { parts.append("\(distance) m left") }
        if let arrival { parts.append("arrives \(arrival.clock)") }
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

extension UTCTime {
    /// `10:15:30`, UTC.
    fileprivate var clock: String { String(description.dropFirst(11).prefix(8)) }
}

extension Double {
    /// With so many digits behind the point, whatever the language of the host is.
    fileprivate func fixed(_ digits: Int) -> String {
        let scale = (0..<digits).reduce(Int64(1)) { power, _ in power * 10 }
        guard let scaled = Int64(exactly: (self * Double(scale)).rounded()) else { return "\(self)" }
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: scale.magnitude)
        let sign = scaled < 0 ? "-" : ""
        return digits == 0 ? "\(sign)\(whole)" : "\(sign)\(whole)." + String(fraction + scale.magnitude).dropFirst()
    }
}
