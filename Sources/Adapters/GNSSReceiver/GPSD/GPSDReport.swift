import GNSS
import StrictJSON
import TimeAndRandomness

/// A JSON object from gpsd (gpsd_json(5)) about a fix or a receiver.
enum GPSDReport: Sendable, Hashable {
    /// DEVICES: whether gpsd has opened each device, keyed by path.
    case devices([String: Bool])
    /// DEVICE: gpsd has opened or closed a device.
    case device(path: String, isOpen: Bool)
    /// TPV: time, position and velocity; the fix is `nil` if there is no usable position. The warning says why a
    /// position isn't used; it is `nil` if that isn't known.
    case position(device: String, time: UTCTime?, Fix?, ReceiverWarning?)
    /// SKY: HDOP, the number of satellites used, and the satellites in view if they are listed.
    case sky(device: String, hdop: Double?, satellitesUsed: Int?, Sky? = nil)
    /// GST: the receiver's own error estimate, as the radius in metres of the circle that contains the position with 68
    /// % probability.
    case errors(device: String, time: UTCTime, radiusMeters: Double)
    /// ERROR: gpsd's message about a rejected request.
    case rejection(String)
    /// Any other report from a device, such as the vehicle's attitude or the position of a ship (AIS).
    case other(device: String)

    /// Parses a line; `nil` if it isn't a JSON object, for example a sentence or a truncated line, or if it isn't about
    /// a device.
    init?(_ line: [UInt8]) {
        guard line.first == UInt8(ascii: "{"), let object = try? JSONValue(parsing: line) else { return nil }
        // gpsd may omit the device's name if there is only one device.
        let device = object["device"]?.stringValue
        switch object["class"]?.stringValue {
        case "DEVICES":
            let devices = (object["devices"]?.arrayValue ?? []).prefix(Self.maximumDevices).compactMap(Self.device)
            self = .devices(Dictionary(devices, uniquingKeysWith: { $1 }))
        case "DEVICE":
            guard let (path, isOpen) = Self.device(object) else { return nil }
            self = .device(path: path, isOpen: isOpen)
        case "TPV":
            let warning = ReceiverWarning(positionReport: object)
            let fix = warning == nil ? Fix(positionReport: object) : nil
            self = .position(device: device ?? "", time: object.time, fix, warning)
        case "SKY":
            self = .sky(
                device: device ?? "", hdop: object["hdop"]?.doubleValue.flatMap { $0 > 0 && $0 < 99 ? $0 : nil },
                satellitesUsed: Self.satellitesUsed(object),
                object["satellites"]?.arrayValue.map { Sky($0.compactMap(Satellite.init(skyReport:))) })
        case "GST":
            guard let time = object.time, let north = object.error("lat"), let east = object.error("lon") else {
                return nil
            }
            let radius = (north * north + east * east).squareRoot()
            self = .errors(device: device ?? "", time: time, radiusMeters: radius)
        case "ERROR": self = .rejection(object["message"]?.stringValue ?? "")
        default:
            guard let device else { return nil }
            self = .other(device: device)
        }
    }

    /// The maximum number of devices that are remembered. gpsd is usually built for four to six.
    static let maximumDevices = 16

    private static func device(_ object: JSONValue) -> (path: String, isOpen: Bool)? {
        guard let path = object["path"]?.stringValue else { return nil }
        // `activated` is the time at which the device was opened. It is absent or 0 if the device isn't open.
        let isOpen = object["activated"].map { $0.doubleValue != 0 } ?? false
        return (path, isOpen)
    }

    private static func satellitesUsed(_ object: JSONValue) -> Int? {
        if let count = object["uSat"]?.integerValue { return Int(exactly: count).flatMap { $0 >= 0 ? $0 : nil } }
        // Before protocol version 3.14, gpsd doesn't send this number, so the satellites are counted.
        return object["satellites"]?.arrayValue.map { $0.count { $0["used"]?.boolValue == true } }
    }
}

extension ReceiverWarning {
    /// Reads from a TPV object why its position isn't used; `nil` if there is no reason, or no position.
    fileprivate init?(positionReport object: JSONValue) {
        switch object["status"]?.integerValue {
        // Status 7 means that only the time is measured, at a position that was entered. Status 8 means a simulation.
        case 7, 8: self = .simulatedOrManual
        default:
            guard object["lat"]?.doubleValue == 0, object["lon"]?.doubleValue == 0 else { return nil }
            self = .nullIsland
        }
    }
}

extension Fix {
    /// Reads a TPV object whose position may be used; `nil` if it has no position or time.
    fileprivate init?(positionReport object: JSONValue) {
        guard let mode = object["mode"]?.integerValue.flatMap({ fixModes[$0] }),
            let time = object.time, let latitude = object["lat"]?.doubleValue,
            let longitude = object["lon"]?.doubleValue,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        let quality = object["status"]?.integerValue.flatMap { fixQualities[$0] } ?? .gps
        self.init(timeOfFix: time, latitude: latitude, longitude: longitude, quality: quality)
        self.mode = mode
        readAltitude(object)
        speedMetersPerSecond = object["speed"]?.doubleValue.flatMap { (0...515).contains($0) ? $0 : nil }
        headingDegrees = object["track"]?.doubleValue.flatMap { (0...360).contains($0) ? $0 : nil }
        if headingDegrees == 360 { headingDegrees = 0 }
        horizontalAccuracyMeters = Self.accuracy(object)
    }

    private mutating func readAltitude(_ object: JSONValue) {
        let aboveSea = object.meters("altMSL")
        let aboveEllipsoid = object.meters("altHAE")
        let separation = object.meters("geoidSep")
        if let aboveSea, let aboveEllipsoid {
            altitudeMeters = aboveSea
            geoidSeparationMeters = aboveEllipsoid - aboveSea
        } else if let aboveEllipsoid, let separation {
            altitudeMeters = aboveEllipsoid - separation
            geoidSeparationMeters = separation
        } else if aboveEllipsoid == nil {
            // Before version 3.20, gpsd sends only `alt`, which is above mean sea level. In later versions, the meaning
            // of `alt` is undefined.
            altitudeMeters = aboveSea ?? object.meters("alt")
            geoidSeparationMeters = separation
        }
    }

    /// Returns the horizontal accuracy: the radius of the 68 % circle, which is 1.52 standard deviations of one axis.
    /// gpsd states 95 % errors instead, either in the plane (2.45 standard deviations) or along one axis (1.96).
    private static func accuracy(_ object: JSONValue) -> Double? {
        if let horizontal = object.error("eph") { return horizontal * 1.52 / 2.45 }
        guard let east = object.error("epx"), let north = object.error("epy") else { return nil }
        return ((east * east + north * north) / 2).squareRoot() * 1.52 / 1.96
    }
}

extension Satellite {
    /// Reads one satellite of a SKY object; `nil` if it can't be identified.
    fileprivate init?(skyReport object: JSONValue) {
        // Before protocol version 3.17, a single number identifies both the satellite and its system. The number is in
        // the ranges that NMEA 0183 defines.
        let stated = object["gnssid"]?.integerValue
        let numbered = (stated == nil ? nil : object["svid"]) ?? object["PRN"]
        guard let number = numbered?.integerValue.flatMap(Int.init(exactly:)), (1...999).contains(number) else {
            return nil
        }
        let system: SatelliteSystem? = stated.map { systems[$0] } ?? SatelliteSystem(ofSatellite: number, stated: nil)
        guard let system else { return nil }
        func degrees(_ key: String, in range: ClosedRange<Double>) -> Int? {
            object[key]?.doubleValue.flatMap { range.contains($0) ? Int($0.rounded()) : nil }
        }
        self.init(
            system, number, elevation: degrees("el", in: -90...90),
            azimuth: degrees("az", in: 0...360).map { $0 % 360 },
            signal: degrees("ss", in: 0...99).flatMap { $0 > 0 ? $0 : nil }, isUsed: object["used"]?.boolValue == true)
    }
}

/// The satellite systems, keyed by the numbers that u-blox's protocol and gpsd use. Systems that aren't used on roads
/// are left out.
private let systems: [Int64: SatelliteSystem] = [
    0: .gps, 1: .sbas, 2: .galileo, 3: .beiDou, 5: .qzss, 6: .glonass, 7: .navIC,
]

/// The solution modes, keyed by the value of `mode`. The values 0 (unknown) and 1 (no fix) are left out, because they
/// mean that there is no position.
private let fixModes: [Int64: FixMode] = [2: .twoDimensional, 3: .threeDimensional]

/// The fix qualities, keyed by the value of `status`. Any other value means a plain fix, even 6, with which dead
/// reckoning assists the satellites.
private let fixQualities: [Int64: FixQuality] = [2: .dgps, 3: .rtkFixed, 4: .rtkFloat, 5: .estimated, 9: .pps]

extension JSONValue {
    /// The value of `time`, an RFC 3339 time in UTC; `nil` if it is missing or malformed.
    fileprivate var time: UTCTime? { self["time"]?.stringValue.flatMap(UTCTime.init(rfc3339:)) }

    /// Returns the estimated error under `key`, in metres; `nil` if there is none.
    fileprivate func error(_ key: String) -> Double? { meters(key).flatMap { $0 > 0 ? $0 : nil } }

    fileprivate func meters(_ key: String) -> Double? { self[key]?.doubleValue.flatMap { abs($0) < 1e6 ? $0 : nil } }
}
