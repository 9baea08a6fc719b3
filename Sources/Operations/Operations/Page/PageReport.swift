import Conditions
import GNSS
import StrictJSON
import TimeAndRandomness
import TrackDrawing

/// The data for one refresh of the technician's page.
struct PageReport {
    let status: StatusReport
    let history: RecentHistory
    /// The current time on the history's monotonic clock.
    let uptime: Duration
    /// The current time on the host's clock.
    let now: UTCTime

    var json: JSONValue {
        .object([
            "now": .integer(now.millisecondsSince1970),
            "verdict": verdictJSON,
            "status": (try? JSONValue(encoding: status)) ?? .null, "place": placeJSON,
            "minutes": .array(history.minutes(at: uptime).map(Self.json(of:))),
            // The ends of an outage are positions in the list of minutes, so that the page draws outages and minutes on
            // the same scale.
            "outages": .array(
                history.outageMinutes(at: uptime).map { .array([.number($0.lowerBound), .number($0.upperBound)]) }),
            "events": .array(
                PageEvents(history, whileActive: Set(status.conditions.map(\.stage))).newestFirst.map(eventJSON)),
        ])
    }

    private var verdictJSON: JSONValue {
        let verdict = status.verdict(at: now)
        let paragraphs = verdict.paragraphs.map { lines in
            JSONValue.array(lines.map(Self.json(of:)))
        }
        return .object(["kind": .string(verdict.kind.rawValue), "paragraphs": .array(paragraphs)])
    }

    private static func json(of line: Verdict.Line) -> JSONValue {
        .object([
            "part": .string(line.part.rawValue), "text": .string(line.text),
            "since": line.since.map { .integer($0.millisecondsSince1970) } ?? .null,
        ])
    }

    private var placeJSON: JSONValue {
        guard let fix = history.newestFix?.fix else { return .null }
        let isCurrent = history.isCurrent(at: uptime)
        func current(_ value: Double?) -> JSONValue { isCurrent ? value.map(JSONValue.number) ?? .null : .null }
        return .object([
            "latitude": .number(fix.latitude), "longitude": .number(fix.longitude),
            "map": .string(WorldMapLink.address(latitude: fix.latitude, longitude: fix.longitude)),
            "speed": current(fix.speedMetersPerSecond), "heading": current(fix.headingDegrees),
        ])
    }

    private func eventJSON(_ line: RecentHistory.Line) -> JSONValue {
        .object([
            "time": .integer(now.advanced(by: line.at - uptime).millisecondsSince1970),
            "level": .string(line.level.rawValue), "text": .string(line.text),
        ])
    }

    /// Returns a minute as `[delivered, failed, pending]`; `null` if the minute was before the service started.
    private static func json(of minute: RecentHistory.Minute?) -> JSONValue {
        guard let minute else { return .null }
        return .array([
            .integer(Int64(minute.delivered)), .integer(Int64(minute.failed)),
            minute.pending.map(JSONValue.integer) ?? .null,
        ])
    }
}
