import FleetEngine
import StrictJSON
import TimeAndChance

/// A trip of a vehicle. Its status depends on the distance that the vehicle has driven since the start.
///
/// The first quarter leads to the pickup, the rest to the drop-off. The status is `ARRIVED_AT_PICKUP` for 50 m.
package struct SimulatedTrip: Sendable, Hashable {
    package let id: String
    package let vehicleID: String
    /// The distance from the vehicle's first position to the drop-off.
    package let lengthMeters: Double

    package init(id: String, vehicleID: String, lengthMeters: Double = 3000) {
        self.id = id
        self.vehicleID = vehicleID
        self.lengthMeters = lengthMeters
    }

    /// Reads `TRIP=VEHICLE` or `TRIP=VEHICLE:METERS`. Returns `nil` for other text, for example if a second equals sign
    /// replaces the colon.
    package init?(_ text: String) {
        let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2 else { return nil }
        let parts = halves[1].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let vehicleID = parts.first, !vehicleID.contains(where: { $0 == "=" }),
            ResourceName.problem(withID: halves[0]) == nil,
            ResourceName.problem(withID: vehicleID) == nil
        else { return nil }
        guard parts.count == 2 else {
            self.init(id: halves[0], vehicleID: vehicleID)
            return
        }
        guard let length = Double(parts[1]), (100...10_000_000).contains(length) else { return nil }
        self.init(id: halves[0], vehicleID: vehicleID, lengthMeters: length)
    }

    /// Returns the trip's vehicle under `provider`.
    func vehicle(of provider: String) -> ResourceName {
        ResourceName(provider: provider, service: .onDemandTrips, id: vehicleID)
    }

    struct Progress: Sendable, Hashable {
        /// Fleet Engine's name for the status.
        let status: String
        /// The next waypoint; `nil` after the arrival.
        let destination: Destination?
        /// The distance to the next waypoint.
        let remainingMeters: Double?
        /// The time to the next waypoint at the latest speed.
        let remainingMilliseconds: Int64?
        /// The distance driven on the trip.
        let drivenMeters: Double
    }

    enum Destination: String, Sendable { case pickup, dropOff = "drop-off" }

    func progress(of vehicle: VehicleRecord?) -> Progress {
        let driven = vehicle?.track.isEmpty == false ? vehicle?.drivenMeters : nil
        let remaining = remaining(afterDriving: driven)
        let speed = max(vehicle?.latest?.speedMetersPerSecond ?? 0, Self.minimumSpeed)
        return Progress(
            status: status(afterDriving: driven),
            destination: remaining == nil ? nil : (driven ?? 0) < pickupMeters ? .pickup : .dropOff,
            remainingMeters: remaining, remainingMilliseconds: remaining.map { Int64($0 / speed * 1000) },
            drivenMeters: min(lengthMeters, driven ?? 0))
    }

    /// Returns the trip in the form of Fleet Engine's answer.
    ///
    /// `location` is the vehicle's `lastLocation`.
    func resource(
        of provider: String, vehicle: VehicleRecord?, location: JSONValue?, startedAt: UTCTime, now: UTCTime
    ) -> JSONValue {
        var trip: [String: JSONValue] = [
            "name": .string("providers/\(provider)/trips/\(id)"), "vehicleId": .string(vehicleID),
            "tripType": .string("EXCLUSIVE"), "lastLocationSnappable": .bool(false),
            "currentRouteSegmentVersion": .string(startedAt.description),
        ]
        trip["lastLocation"] = location
        let progress = progress(of: vehicle)
        trip["tripStatus"] = .string(progress.status)
        guard let remaining = progress.remainingMeters, let milliseconds = progress.remainingMilliseconds else {
            return .object(trip)
        }
        trip["remainingDistanceMeters"] = .integer(Int64(remaining.rounded()))
        trip["remainingTimeToFirstWaypoint"] = .string("\(milliseconds / 1000)s")
        trip["etaToFirstWaypoint"] = .string(
            now.advanced(by: .milliseconds(milliseconds)).description)
        return .object(trip)
    }

    /// The minimum speed for predicting the arrival, in metres per second: a slower vehicle may be waiting at a light.
    private static let minimumSpeed = 5.0

    private var pickupMeters: Double { lengthMeters / 4 }

    private func status(afterDriving meters: Double?) -> String {
        guard let meters else { return "NEW" }
        if meters >= lengthMeters { return "COMPLETE" }
        if meters >= pickupMeters + 50 { return "ENROUTE_TO_DROPOFF" }
        return meters >= pickupMeters ? "ARRIVED_AT_PICKUP" : "ENROUTE_TO_PICKUP"
    }

    /// Returns the distance to the next waypoint in metres; `nil` if there is none.
    private func remaining(afterDriving meters: Double?) -> Double? {
        let meters = meters ?? 0
        if meters >= lengthMeters { return nil }
        return meters < pickupMeters ? pickupMeters - meters : lengthMeters - meters
    }
}
