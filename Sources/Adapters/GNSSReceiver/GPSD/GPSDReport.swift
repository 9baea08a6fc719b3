import GNSS
import StrictJSON
import TimeAndChance

/// What one object of gpsd's says (gpsd_json(5)), as far as it is about fixes and where they come from.
enum GPSDReport: Sendable, Hashable {
    /// DEVICES: all that gpsd knows, by path, and whether it has them open.
    case devices([String: Bool])
    /// DEVICE: one has come or gone.
    case device(path: String, isOpen: Bool)
    /// TPV: time, position, velocity; without a fix where there is no position that may be used.
    case position(device: String, time: UTCTime?, Fix?)
    /// SKY: HDOP, how many satellites are used, and where it lists them those that are in view.
    case sky(device: String, hdop: Double?, satellitesUsed: Int?, Sky? = nil)
    /// GST: the receiver's own estimate of its error, as the radius of the 68 % circle in metres.
    case errors(device: String, time: UTCTime, radiusMeters: Double)
    /// ERROR: what was asked is not done, in gpsd's words.
    case refusal(String)
    /// Anything else that a device sent: the attitude of a vehicle, positions of ships.
    case other(device: String)

    /// `nil` for what is no JSON object (a sentence, a line that was cut off) and for what says nothing of a device.
    init?(_ line: [UInt8]) {
        guard line.first == UInt8(ascii: "{"), let object = try? JSONValue(parsing: line) else { return nil }
        // gpsd leaves the name out where it has one device and does not care.
        let device = object["device"]?.stringValue
        switch object["class"]?.stringValue {
        case "DEVICES":
            let devices = (object["devices"]?.arrayValue ?? []).prefix(Self.mostDevices).compactMap(Self.device)
            self = .devices(Dictionary(devices, uniquingKeysWith: { $1 }))
        case "DEVICE":
            guard let (path, isOpen) = Self.device(object) else { return nil }
            self = .device(path: path, isOpen: isOpen)
        case "TPV": self = .position(device: device ?? "", time: object.time, Fix(positionReport: object))
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
        case "ERROR": self = .refusal(object["message"]?.stringValue ?? "")
        default:
            guard let device else { return nil }
            self = .other(device: device)
        }
    }

    /// gpsd is built for four to six.
    static let mostDevices = 16

    private static func device(_ object: JSONValue) -> (path: String, isOpen: Bool)? {
        guard let path = object["path"]?.stringValue else { return nil }
        // Since when it is open; absent or 0 when it is not.
        let isOpen = object["activated"].map { $0.doubleValue != 0 } ?? false
        return (path, isOpen)
    }

    private static func satellitesUsed(_ object: JSONValue) -> Int? {
        if let count = object["uSat"]?.integerValue { return Int(exactly: count).flatMap { $0 >= 0 ? $0 : nil } }
        // Before protocol 3.14 they have to be counted.
        return object["satellites"]?.arrayValue.map { $0.count { $0["used"]?.boolValue == true } }
    }
}

extension Fix {
    /// A TPV object; `nil` where it has no position, no time, or one that no receiver has found (simulated, typed in).
    fileprivate init?(positionReport object: JSONValue) {
        let status = object["status"]?.integerValue
        // A time without a position of its own, and a simulation.
        guard status != 7, status != 8, let mode = object["mode"]?.integerValue.flatMap({ fixModes[$0] }),
            let time = object.time, let latitude = object["lat"]?.doubleValue,
            let longitude = object["lon"]?.doubleValue,
            (-90...90).contains(latitude), (-180...180).contains(longitude), latitude != 0 || longitude != 0
        else { return nil }
        let quality = status.flatMap { fixQualities[$0] } ?? .gps
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
            // Before 3.20 there is `alt` alone, which means mean sea level; later versions give it no meaning.
            altitudeMeters = aboveSea ?? object.meters("alt")
            geoidSeparationMeters = separation
        }
    }

    /// Radius of the 68 % circle: gpsd's errors are of 95 %, in the plane (2.45 standard deviations of one axis) or
    /// along an axis (1.96); 68 % is 1.52 of them.
    private static func accuracy(_ object: JSONValue) -> Double? {
        if let horizontal = object.error("eph") { return horizontal * 1.52 / 2.45 }
        guard let east = object.error("epx"), let north = object.error("epy") else { return nil }
        return ((east * east + north * north) / 2).squareRoot() * 1.52 / 1.96
    }
}

extension Satellite {
    /// One of the satellites of a SKY object; `nil` where it cannot be told which it is.
    fileprivate init?(skyReport object: JSONValue) {
        // Before protocol 3.17 a number says both which and of which system, by the ranges of NMEA.
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

/// As u-blox and gpsd number them, without those of no use on a road.
private let systems: [Int64: SatelliteSystem] = [
    0: .gps, 1: .sbas, 2: .galileo, 3: .beiDou, 5: .qzss, 6: .glonass, 7: .navIC,
]

/// By `mode`, which is 0 where it is not known, and 1 without a fix.
private let fixModes: [Int64: FixMode] = [2: .twoDimensional, 3: .threeDimensional]

/// By `status`; any other is a plain fix, as 6, a fix of satellites that dead reckoning helps.
private let fixQualities: [Int64: FixQuality] = [2: .dgps, 3: .rtkFixed, 4: .rtkFloat, 5: .estimated, 9: .pps]

extension JSONValue {
    /// The member `time`: RFC 3339 in UTC.
    fileprivate var time: UTCTime? { self["time"]?.stringValue.flatMap(UTCTime.init(rfc3339:)) }

    /// An estimated error in metres, if there is one.
    fileprivate func error(_ key: String) -> Double? { meters(key).flatMap { $0 > 0 ? $0 : nil } }

    fileprivate func meters(_ key: String) -> Double? { self[key]?.doubleValue.flatMap { abs($0) < 1e6 ? $0 : nil } }
}
