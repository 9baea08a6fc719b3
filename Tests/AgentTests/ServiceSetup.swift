import FoundationEssentials
import WaypostTestSupport

/// What differs from test to test in a configuration file.
struct ServiceSetup {
    /// For `authorization.url`; by default nobody answers there.
    var tokenURL = "http://127.0.0.1:1/token"
    /// For `authorization`, in place of one with `tokenURL`.
    var authorization: String?
    /// For `consumerAuthorization`, where there is one.
    var consumerAuthorization: String?
    var endpoint = "http://127.0.0.1:1"
    /// A path in the directory.
    var outbox = "outbox.sqlite"
    var status = "127.0.0.1:0"
    var level = "debug"
    /// `text` or `json`.
    var logFormat = "text"
    /// The section `receiver`; a serial line by default.
    var receiver: String?
    /// More members of `vehicle` and `reporting`.
    var vehicle = ""
    var reporting = ""
    /// First and longest wait between attempts, in seconds.
    var retryDelay = 0.05

    /// The device that the configuration names, in the directory.
    static func device(in directory: TemporaryDirectory) -> String { directory.path("receiver") }

    /// Writes the configuration to `directory` and gives the file's path.
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
