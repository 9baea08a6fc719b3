import FoundationEssentials
import WaypostTestSupport

/// The parts of a configuration file that differ between tests.
struct ServiceSetup {
    /// The value of `authorization.url`. By default, no server answers there.
    var tokenURL = "http://127.0.0.1:1/token"
    /// The value of `authorization`; `nil` uses one with `tokenURL`.
    var authorization: String?
    var consumerAuthorization: String?
    var endpoint = "http://127.0.0.1:1"
    var outbox = "outbox.sqlite"
    var status = "127.0.0.1:0"
    var level = "debug"
    /// The value of `log.format`: `text` or `json`.
    var logFormat = "text"
    /// The section `receiver`; a serial port by default.
    var receiver: String?
    /// Additional members of `vehicle` and `reporting`.
    var vehicle = ""
    var reporting = ""
    /// The first and the maximum delay between attempts, in seconds.
    var retryDelay = 0.05

    static func device(in directory: TemporaryDirectory) -> String { directory.path("receiver") }

    /// Writes the configuration to `directory`. Returns the file's path.
    func write(in directory: TemporaryDirectory) throws -> String {
        let receiver = receiver ?? #"{"type": "serial", "device": "\#(Self.device(in: directory))"}"#
        let text = """
            {"vehicle": {"providerId": "p", "vehicleId": "van-7"\(vehicle.isEmpty ? "" : ", \(vehicle)")},
             "receiver": \(receiver),
             "authorization": \(authorization ?? #"{"type": "http", "url": "\#(tokenURL)"}"#),
             \(consumerAuthorization.map { "\"consumerAuthorization\": \($0)," } ?? "")
             "reporting": {"intervalSeconds": 5\(reporting.isEmpty ? "" : ", \(reporting)")},
             "upload": {"endpoint": "\(endpoint)", "maximumPastLocations": 7,
                        "retry": {"initialDelaySeconds": \(retryDelay), "maximumDelaySeconds": \(retryDelay)}},
             "outbox": {"path": "\(directory.path(outbox))"},
             "status": {"listen": "\(status)"}, "log": {"level": "\(level)", "format": "\(logFormat)"}}
            """
        return try directory.write(text.utf8, to: "config.json")
    }
}
