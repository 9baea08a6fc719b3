import GNSS
import StrictJSON
import TimeAndChance
import TrackDrawing

/// What the technician's page shows, each time that it asks.
struct PageReport {
    let status: StatusReport
    let history: RecentHistory
    /// Of the clock of the history.
    let uptime: Duration
    /// For the times of a person's clock.
    let now: UTCTime
    let orders: JSONValue

    var json: JSONValue {
        let verdict = PageVerdict(status, at: now)
        return .object([
            "now": .integer(now.millisecondsSince1970),
            "verdict": .object([
                "kind": .string(verdict.kind.rawValue), "title": .string(verdict.title),
                "text": .string(verdict.text),
            ]),
            "status": (try? JSONValue(encoding: status)) ?? .null, "place": place,
            "minutes": .array(history.minutes(at: uptime).map(Self.minute)),
            "outages": .array(
                history.outages(at: uptime).map {
                    .array([seconds(since: $0.lowerBound), seconds(since: $0.upperBound)])
                }),
            "events": .array(history.lines.reversed().map(event)), "orders": orders,
        ])
    }

    private var place: JSONValue {
        guard let (fix, at) = history.newest else { return .null }
        func number(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }
        return .object([
            "latitude": .number(fix.latitude), "longitude": .number(fix.longitude), "secondsAgo": seconds(since: at),
            "map": .string(WorldMapLink.address(latitude: fix.latitude, longitude: fix.longitude)),
            "speed": number(fix.speedMetersPerSecond), "heading": number(fix.headingDegrees),
        ])
    }

    private func event(_ line: RecentHistory.Line) -> JSONValue {
        .object([
            "time": .integer(now.advanced(by: line.at - uptime).millisecondsSince1970),
            "level": .string(line.level.rawValue), "text": .string(line.text),
        ])
    }

    private func seconds(since moment: Duration) -> JSONValue {
        .integer(Int64((uptime - moment) / .seconds(1)))
    }

    /// `[delivered, failed, pending]`; `null` before the start.
    private static func minute(_ minute: RecentHistory.Minute?) -> JSONValue {
        guard let minute else { return .null }
        return .array([
            .integer(Int64(minute.delivered)), .integer(Int64(minute.failed)),
            minute.pending.map(JSONValue.integer) ?? .null,
        ])
    }
}
