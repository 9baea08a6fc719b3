package import GNSS

/// What a simulated drive shows.
package enum DriveSituation: String, Sendable, Hashable, CaseIterable {
    /// Streets with corners and traffic lights.
    case town
    /// Wide bends at 100 to 130 km/h.
    case motorway
    /// A country road with a tunnel in the middle: a minute and a half without a fix.
    case tunnel
    /// A short way to a parking place, then standstill with a wandering position.
    case parking
    /// Through the town across midnight.
    case midnight
    /// Through the town, ten epochs a second.
    case tenHertz

    /// When the drive starts unless told otherwise.
    package var standardStart: UTCTime {
        let halfPastTen = (10 * 60 + 30) * 60_000
        let twoMinutesToMidnight = (23 * 60 + 58) * 60_000
        return UTCTime(
            year: 2026, month: 3, day: 31,
            millisecondOfDay: self == .midnight ? twoMinutesToMidnight : halfPastTen)
    }

    /// How long the drive lasts unless told otherwise.
    package var standardDuration: Duration {
        switch self {
        case .town, .motorway, .parking: .seconds(600)
        case .tunnel: .seconds(300)
        case .midnight: .seconds(240)
        case .tenHertz: .seconds(60)
        }
    }

    var epochMilliseconds: Int64 { self == .tenHertz ? 100 : 1000 }

    /// Seconds of the drive during which no satellite is seen.
    var outage: Range<Double> { self == .tunnel ? 100..<190 : 0..<0 }

    /// Second at which the driver looks for a place to stop for good.
    var parkingTime: Double { self == .parking ? 120 : .infinity }

    var road: RoadStyle {
        switch self {
        case .town, .parking, .midnight, .tenHertz:
            RoadStyle(
                limits: [8.3, 13.9, 13.9], straights: 60...320, radii: 12...45, turns: 35...95, hasTrafficLights: true)
        case .motorway:
            RoadStyle(
                limits: [27.8, 33.3, 36.1], straights: 300...1500, radii: 700...1800, turns: 8...40,
                hasTrafficLights: false)
        case .tunnel:
            RoadStyle(
                limits: [22.2], straights: 150...600, radii: 180...500, turns: 10...50, hasTrafficLights: false)
        }
    }
}
