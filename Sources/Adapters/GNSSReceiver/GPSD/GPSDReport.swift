import GNSS
import StrictJSON

/// What one object of gpsd's says (gpsd_json(5)), as far as it is about fixes and where they come from.
enum GPSDReport: Sendable, Hashable {
    /// DEVICES: all that gpsd knows, by path, and whether it has them open.
    case devices([String: Bool])
    /// DEVICE: one has come or gone.
    case device(path: String, isOpen: Bool)
    /// TPV: time, position, velocity; without a fix where there is no position that may be used.
    case position(device: String, time: UTCTime?, Fix?)
    /// SKY: satellites used, and HDOP.
    case sky(device: String, hdop: Double?, satellitesUsed: Int?)
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
                satellitesUsed: Self.satellitesUsed(object))
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
