import FleetEngine
import StrictJSON
import TimeAndRandomness

/// A simulated trip of one vehicle. The trip's status depends on the distance that the vehicle has driven since its
/// first position.
///
/// The first quarter of the distance leads to the pickup, the rest to the drop-off. For 50 m after the pickup, the
/// status is `ARRIVED_AT_PICKUP`.
package struct SimulatedTrip: Sendable, Hashable {
    package let id: String
    package let vehicleID: String
    /// The distance that the vehicle drives from its first position to the drop-off.
    package let lengthMeters: Double

    package init(id: String, vehicleID: String, lengthMeters: Double = 3000) {
        self.id = id
        self.vehicleID = vehicleID
        self.lengthMeters = lengthMeters
    }

    /// Parses `TRIP=VEHICLE` or `TRIP=VEHICLE:METERS`. Returns `nil` for other text, for example if a second equals
    /// sign replaces the colon.
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

    /// Returns the resource name of the trip's vehicle under `provider`.
    func vehicleName(under provider: String) -> ResourceName {
        ResourceName(provider: provider, service: .onDemandTrips, id: vehicleID)
    }

    struct Progress: Sendable, Hashable {
        /// The status by Fleet Engine's name, such as `ENROUTE_TO_PICKUP`.
        let status: String
        /// The next waypoint; `nil` after the drop-off.
        let destination: Destination?
        /// The distance to the next waypoint; `nil` after the drop-off.
        let remainingMeters: Double?
        /// The predicted time to the next waypoint, at the vehicle's latest speed; `nil` after the drop-off.
        let remainingMilliseconds: Int64?
        /// The distance that the vehicle has driven on the trip.
        let drivenMeters: Double
    }

    enum Destination: String, Sendable { case pickup, dropOff = "drop-off" }

    func progress(of vehicle: VehicleRecord?) -> Progress {
        let driven = vehicle?.track.isEmpty == false ? vehicle?.drivenMeters : nil
        let remaining = remainingMeters(afterDriving: driven)
        let speed = max(vehicle?.latest?.speedMetersPerSecond ?? 0, Self.minimumSpeed)
        return Progress(
            status: status(afterDriving: driven),
            destination: remaining == nil ? nil : (driven ?? 0) < pickupMeters ? .pickup : .dropOff,
            remainingMeters: remaining, remainingMilliseconds: remaining.map { Int64($0 / speed * 1000) },
            drivenMeters: min(lengthMeters, driven ?? 0))
    }

    /// Returns the trip as Fleet Engine would return it.
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

    /// The minimum speed that is assumed for predicting the arrival, in metres per second. A slower vehicle may be
    /// waiting at a traffic light.
    private static let minimumSpeed = 5.0

    private var pickupMeters: Double { lengthMeters / 4 }

    private func status(afterDriving meters: Double?) -> String {
        guard let meters else { return "NEW" }
        if meters >= lengthMeters { return "COMPLETE" }
        if meters >= pickupMeters + 50 { return "ENROUTE_TO_DROPOFF" }
        return meters >= pickupMeters ? "ARRIVED_AT_PICKUP" : "ENROUTE_TO_PICKUP"
    }

    /// Returns the distance to the next waypoint in metres; `nil` after the drop-off.
    private func remainingMeters(afterDriving meters: Double?) -> Double? {
        let meters = meters ?? 0
        if meters >= lengthMeters { return nil }
        return meters < pickupMeters ? pickupMeters - meters : lengthMeters - meters
    }
}
