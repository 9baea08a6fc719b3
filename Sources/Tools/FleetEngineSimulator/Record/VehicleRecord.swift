import Glibc
import TimeAndRandomness

package struct VehicleRecord: Sendable {
    /// A point of the track. The track has one point for each distinct fix time.
    package struct TrackPoint: Sendable, Hashable {
        package let time: WireTime
        package let latitude: Double
        package let longitude: Double
        package let speedMetersPerSecond: Double?
        package let isLast: Bool
    }

    /// The maximum number of distinct fix times to keep for a vehicle. `forgottenFixTimes` counts positions with
    /// further ones.
    private static let maximumFixTimes = 1_000_000
    /// The maximum number of points of the track. If there are more, every other point is dropped, because the rest
    /// still shows the shape.
    private static let maximumTrackPoints = 20_000

    /// The number of times that each fix time was delivered, whether with a last location or a past location.
    package private(set) var deliveries: [WireTime: Int] = [:]
    /// The track in order of time.
    package private(set) var track: [TrackPoint] = []
    /// The last location with the newest fix time. Until a last location has arrived, it is the first past location.
    package private(set) var latest: AcceptedUpdate.Position?
    package private(set) var vehicleState: String?
    package private(set) var updates = 0
    package private(set) var lastLocations = 0
    package private(set) var pastLocations = 0
    /// The number of positions whose fix time had already been delivered.
    package private(set) var repeatedFixes = 0
    /// The number of delivered positions that contain no time.
    package private(set) var locationsWithoutTime = 0
    package private(set) var order = LocationOrder()
    package private(set) var forgottenFixTimes = 0
    private(set) var arrivals = ArrivalChart()
    /// The time at which a position last arrived; `nil` before the first one.
    private(set) var positionArrivedAt: UTCTime?

    /// The distinct fix times of all delivered positions, in order.
    package var fixTimes: [WireTime] { deliveries.keys.sorted() }

    /// The length of the track in metres. It is calculated as if the earth were flat, with an error of at most 0.1 %
    /// within a town.
    package var drivenMeters: Double {
        zip(track, track.dropFirst()).reduce(0) { sum, hop in
            let metersPerDegree = 111_195.0
            let north = (hop.1.latitude - hop.0.latitude) * metersPerDegree
            let east = (hop.1.longitude - hop.0.longitude) * metersPerDegree * cos(hop.0.latitude / 180 * .pi)
            return sum + (north * north + east * east).squareRoot()
        }
    }

    mutating func add(_ update: AcceptedUpdate, at now: UTCTime) {
        updates += 1
        vehicleState = update.vehicleState ?? vehicleState
        let live = update.positions.count(where: \.isLast)
        arrivals.add(ArrivalChart.Bar(live: live, late: update.positions.count - live), at: now)
        if !update.positions.isEmpty { positionArrivedAt = now }
        order.check(update.positions)
        for position in update.positions {
            if position.isLast { lastLocations += 1 } else { pastLocations += 1 }
            guard let time = position.time else {
                locationsWithoutTime += 1
                continue
            }
            add(position, at: time)
        }
    }

    private mutating func add(_ position: AcceptedUpdate.Position, at time: WireTime) {
        if position.isLast || latest == nil, latest?.time.map({ $0 <= time }) ?? true { latest = position }
        if let count = deliveries[time] {
            deliveries[time] = count + 1
            repeatedFixes += 1
            return
        }
        guard deliveries.count < Self.maximumFixTimes else {
            forgottenFixTimes += 1
            return
        }
        deliveries[time] = 1
        insert(
            TrackPoint(
                time: time, latitude: position.latitude, longitude: position.longitude,
                speedMetersPerSecond: position.speedMetersPerSecond, isLast: position.isLast))
    }

    /// Inserts a point in order of time. Most points belong at the end, but the points of a backlog are older than
    /// points already in the track.
    private mutating func insert(_ point: TrackPoint) {
        track.insert(point, at: (track.lastIndex { $0.time < point.time } ?? -1) + 1)
        if track.count > Self.maximumTrackPoints {
            track = track.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        }
    }
}

/// A check that positions arrive in the order that Fleet Engine's rules require.
package struct LocationOrder: Sendable {
    /// The number of last locations that were older than the previous last location.
    package private(set) var lastLocationsBackInTime = 0
    /// The number of updates whose past locations were not in order of time, or were newer than the last location.
    package private(set) var pastLocationsOutOfOrder = 0
    private var newestLast: WireTime?

    mutating func check(_ positions: [AcceptedUpdate.Position]) {
        let times = positions.compactMap(\.time)
        if zip(times, times.dropFirst()).contains(where: { $0 > $1 }) { pastLocationsOutOfOrder += 1 }
        guard let new = positions.last(where: \.isLast)?.time else { return }
        if let newestLast, new < newestLast { lastLocationsBackInTime += 1 }
        newestLast = new
    }
}
