import FleetEngine
import GNSSReceiver
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// The state that one run of the service passes to the next.
@Suite struct Handovers {
    private static let text =
        #"{"vehicle": {"providerId": "p", "vehicleId": {"environment": "VAN"}, "service": "#
        + #""onDemandTrips"}, "receiver": {"type": "gpsd"}, "authorization": {"type": "file", "path": "/run/token"}}"#

    /// The next image reads the same configuration, although the variable is gone.
    @Test func areReadAsTheyWereWritten() throws {
        let configuration = try Configuration(
            json: Array(Self.text.utf8), file: "config.json", environment: ["VAN": "van-7"])
        let time = UTCTime(millisecondsSince1970: 1_767_608_130_250)
        let document = ConfigurationDocument(
            json: configuration.document.json, values: configuration.document.values)
        let handover = Handover(cause: .certificateFiles, document: document, loadedAt: time, baudRate: nil)
        let message = try #require(handover.message)
        let read = try #require(Handover(message: message))
        #expect(read == handover)
        #expect(try Configuration(document: read.document, file: "config.json").vehicle.vehicleID == "van-7")
        #expect(throws: ConfigurationError.self) {
            try Configuration(json: read.document.json, file: "config.json", environment: [:])
        }
    }

    @Test(arguments: ["", "{}", "null", #"{"version":2,"cause":"request","configuration":"{}","values":[]}"#])
    func areNotReadFromOtherText(text: String) {
        #expect(Handover(message: Array(text.utf8)) == nil)
    }
}

/// The differences between two configurations that affect a reload. Every key can be reloaded.
@Suite struct ConfigurationChanges {
    /// The values of a configuration with every section, by key.
    private static let values = [
        "vehicle.providerId": #""p""#, "vehicle.vehicleId": #""van-7""#, "vehicle.service": #""onDemandTrips""#,
        "receiver.type": #""tcp""#, "receiver.host": #""127.0.0.1""#, "authorization.type": #""http""#,
        "authorization.url": #""https://backend/{vehicleId}""#,
    ]

    private static func configuration(changing changed: [String: String] = [:]) throws -> Configuration {
        var values = Self.values.merging(changed) { $1 }
        if changed["receiver.type"] != nil { values["receiver.host"] = nil }
        return try Configuration(json: Array(json(values).utf8), file: "config.json")
    }

    /// Returns nested objects, such as `{"a": {"b": 1}}` for the key `a.b` and the value 1.
    private static func json(_ values: [String: String]) -> String {
        let members = Dictionary(grouping: values) { $0.key.prefix { $0 != "." } }.map { name, inner in
            let rest = inner.map { (String($0.key.dropFirst(name.count + 1)), $0.value) }
            let value = rest.first { $0.0.isEmpty }?.1 ?? json(Dictionary(rest) { $1 })
            return "\"\(name)\": \(value)"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    struct Row: Sendable {
        var changed: [String: String] = [:]
        var receiverEnds = false
        var stopsReportingVehicle = false
        var renamesPending = false
        var keepsOutbox = true
    }

    @Test(arguments: [
        Row(),
        Row(changed: ["log.level": #""debug""#, "status.listen": #""127.0.0.1:1""#, "outbox.maximumMegabytes": "5"]),
        Row(changed: ["authorization.url": #""https://elsewhere/""#, "vehicle.stateOnStop": #""ONLINE""#]),
        Row(changed: ["vehicle.providerId": #""q""#], stopsReportingVehicle: true, renamesPending: true),
        Row(changed: ["vehicle.vehicleId": #""van-8""#], stopsReportingVehicle: true, renamesPending: true),
        Row(changed: ["vehicle.service": #""scheduledTasks""#], stopsReportingVehicle: true, renamesPending: true),
        Row(changed: ["upload.endpoint": #""https://elsewhere""#], stopsReportingVehicle: true),
        Row(changed: ["outbox.path": #""/o""#], keepsOutbox: false),
        Row(
            changed: ["outbox.path": #""/o""#, "vehicle.vehicleId": #""van-8""#], stopsReportingVehicle: true,
            keepsOutbox: false),
        Row(changed: ["receiver.type": #""gpsd""#]),
        Row(changed: ["receiver.type": #""stdin""#], receiverEnds: true),
        Row(changed: ["receiver.type": #""file", "path": "log.nmea""#], receiverEnds: true),
        Row(changed: ["receiver.type": #""file", "path": "log.nmea", "follow": true"#]),
    ])
    func stateTheirConsequences(row: Row) throws {
        let old = try Self.configuration()
        let new = try Self.configuration(changing: row.changed)
        for change in [ConfigurationChange(from: old, to: new), ConfigurationChange(from: new, to: old)] {
            #expect(change.receiverEnds == row.receiverEnds)
            #expect(change.stopsReportingVehicle == row.stopsReportingVehicle)
            #expect(change.renamesPending == row.renamesPending)
            #expect(change.keepsOutbox == row.keepsOutbox)
        }
    }
}
