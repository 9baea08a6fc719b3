import FoundationEssentials
import Testing
import WaypostTestSupport

@testable import Waypost

/// What a reload does, key by key; the table of `docs/operations.md` says the same.
@Suite struct ReloadPlans {
    /// A configuration with every section, by key.
    static let values = [
        "vehicle.providerId": #""p""#, "vehicle.vehicleId": #""van-7""#, "vehicle.service": #""onDemandTrips""#,
        "vehicle.stateWhileRunning": #""ONLINE""#, "vehicle.stateOnStop": #""OFFLINE""#,
        "receiver.type": #""tcp""#, "receiver.host": #""127.0.0.1""#, "authorization.type": #""http""#,
        "authorization.url": #""https://backend/{vehicleId}""#,
    ]

    /// A key, its new value, and what the reload does with it: `nil` is a rejection.
    static let changes: [(key: String, value: String, parts: Set<ReloadPlan.Part>?)] = [
        ("$schema", #""config.schema.json""#, []),
        ("vehicle.providerId", #""q""#, nil),
        ("vehicle.vehicleId", #""van-8""#, nil),
        ("vehicle.service", #""scheduledTasks""#, nil),
        ("vehicle.stateWhileRunning", #""OFFLINE""#, [.delivery]),
        ("vehicle.stateOnStop", #""ONLINE""#, [.stateOnStop]),
        ("vehicle.privateWhen", #""/run/private""#, [.privateMode]),
        ("receiver.type", #""gpsd""#, [.receiver]),
        ("receiver.host", #""127.0.0.2""#, [.receiver]),
        ("receiver.acceptMissingChecksum", "true", [.receiver]),
        ("authorization.type", #""file", "path": "/run/token""#, [.tokens, .delivery]),
        ("authorization.url", #""https://elsewhere/""#, [.tokens, .delivery]),
        ("authorization.tokenKey", #""token""#, [.tokens, .delivery]),
        ("authorization.clientKeyFile", #""/k", "clientCertificateFile": "/c""#, [.tokens, .delivery]),
        ("consumerAuthorization", #"{"type": "file", "path": "/run/consumer"}"#, []),
        ("reporting.policy", #""accuracy""#, [.intervals]),
        ("reporting.intervalSeconds", "5", [.intervals]),
        ("reporting.liveMeters", #"60, "policy": "accuracy""#, [.intervals]),
        ("reporting.longestIntervalSeconds", #"20, "policy": "accuracy""#, [.intervals]),
        ("reporting.heartbeatSeconds", "30", [.intervals, .delivery]),
        ("reporting.trackMeters", "10", [.intervals]),
        ("reporting.privateZones", #"[{"latitude": 48, "longitude": 11, "radiusMeters": 100}]"#, [.privateMode]),
        ("upload.endpoint", #""https://elsewhere""#, [.delivery]),
        ("upload.timeoutSeconds", "5", [.delivery]),
        ("upload.maximumPastLocations", "5", [.delivery]),
        ("upload.backlogUpdatesPerSecond", "5", [.delivery]),
        ("upload.caFile", #""/ca.pem""#, [.delivery]),
        ("upload.retry.initialDelaySeconds", "2", [.delivery]),
        ("upload.retry.maximumDelaySeconds", "5", [.delivery]),
        ("outbox.path", #""/o""#, nil),
        ("outbox.maximumMegabytes", "5", nil),
        ("outbox.maximumAgeDays", "5", nil),
        ("outbox.durability", #""economy""#, nil),
        ("status.listen", #""127.0.0.1:1""#, nil),
        ("log.level", #""debug""#, [.log]),
        ("log.format", #""json""#, [.log]),
    ]

    static func configuration(_ changed: [String: String] = [:]) throws -> Configuration {
        var values = Self.values.merging(changed) { $1 }
        // The new type has keys of its own.
        if changed["authorization.type"] != nil { values["authorization.url"] = nil }
        return try Configuration(json: Array(object(values).utf8), file: "config.json")
    }

    /// `{"a": {"b": 1}}` of `a.b` and 1.
    private static func object(_ values: [String: String]) -> String {
        let members = Dictionary(grouping: values) { $0.key.prefix { $0 != "." } }.map { name, inner in
            let rest = inner.map { (String($0.key.dropFirst(name.count + 1)), $0.value) }
            let value = rest.first { $0.0.isEmpty }?.1 ?? object(Dictionary(rest) { $1 })
            return "\"\(name)\": \(value)"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    @Test(arguments: changes)
    func replacesWhatHasChangedAndNothingElse(key: String, value: String, parts: Set<ReloadPlan.Part>?) throws {
        let plan = ReloadPlan(from: try Self.configuration(), to: try Self.configuration([key: value]))
        #expect(plan.restartKeys == (parts == nil ? [key] : []))
        #expect(plan.parts == parts ?? [])
    }

    @Test func nothingOfNothing() throws {
        let plan = ReloadPlan(from: try Self.configuration(), to: try Self.configuration())
        #expect(plan.restartKeys.isEmpty && plan.parts.isEmpty)
    }

    /// What has an end, ends the service with it.
    @Test(arguments: [#""file", "path": "/drive.nmea""#, #""stdin""#])
    func needsARestartForAReceiverThatEnds(type: String) throws {
        let live = try Self.configuration()
        let text = Self.object(
            Self.values.filter { $0.key != "receiver.host" }.merging(["receiver.type": type]) { $1 })
        let ending = try Configuration(json: Array(text.utf8), file: "config.json")
        #expect(ReloadPlan(from: live, to: ending).restartKeys == ["receiver"])
        #expect(ReloadPlan(from: ending, to: live).restartKeys == ["receiver"])
        #expect(ReloadPlan(from: ending, to: ending).restartKeys.isEmpty)
    }

    /// Every key of `docs/configuration.md` is in the table above, and in that of `docs/operations.md` with what the
    /// plan says of it.
    @Test func areWhatTheOperatorReads() throws {
        let keys = try Self.rows(of: "configuration.md", from: "## All keys", to: "## Receivers").map(\.first)
        let tried = Set(Self.changes.map(\.key))
        #expect(keys.count > 20 && keys.allSatisfy { key in tried.contains { $0 == key } })
        let table = try Self.rows(of: "operations.md", from: "### Reloading", to: "### Stopping")
        for (key, _, parts) in Self.changes {
            let section = String(key.prefix { $0 != "." })
            let row = try #require(
                table.first { $0.keys.contains(key) } ?? table.first { $0.keys.contains(section) }, "\(key)")
            #expect(row.isRejection == (parts == nil), "\(key)")
            #expect(row.parts == parts ?? [], "\(key)")
        }
    }

    private struct Row {
        /// In the first column, between backquotes.
        let keys: [String]
        /// The words of the last.
        let words: String

        var first: String { keys.first ?? "" }
        var isRejection: Bool { words.contains("rejected") }
        var parts: Set<ReloadPlan.Part> {
            let words: [(ReloadPlan.Part, String)] = [
                (.receiver, "receiver is opened"), (.tokens, "tokens in hand are dropped"),
                (.delivery, "connection of its own"), (.intervals, "from the next fix"),
                (.privateMode, "the switch and the zones"), (.stateOnStop, "at the next stop"),
                (.log, "from the next line"),
            ]
            return Set(words.filter { self.words.contains($0.1) }.map(\.0))
        }
    }

    private static func rows(of document: String, from start: String, to end: String) throws -> [Row] {
        let text = try String(contentsOf: Fixtures.checkout.appending(path: "docs/\(document)"), encoding: .utf8)
        let begin = try #require(text.firstRange(of: start + "\n")?.upperBound)
        let part = text[begin..<(try #require(text[begin...].firstRange(of: "\n" + end + "\n")?.lowerBound))]
        return part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let columns = line.split(separator: "|")
            return Row(
                keys: columns[0].matches(of: /`([^`]+)`/).map { String($0.1) }, words: String(columns.last ?? ""))
        }
    }
}
