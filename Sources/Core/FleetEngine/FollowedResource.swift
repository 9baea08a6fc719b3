package import HTTPMessages

/// A resource that a consumer reads repeatedly: a trip, or a vehicle of either service.
package enum FollowedResource: Sendable, Hashable, CustomStringConvertible {
    case trip(TripName)
    case vehicle(VehicleName)

    /// The resource's name in answers.
    package var description: String {
        switch self {
        case .trip(let trip): trip.description
        case .vehicle(let vehicle): vehicle.description
        }
    }

    /// Returns a `GetTrip`, `GetVehicle` or `GetDeliveryVehicle` request with `token` in it.
    ///
    /// A trip is requested in a view other than the default, which is for Google's SDKs; Google advises other callers
    /// to name one.
    ///
    /// `routeVersion`: the version of the route in the last answer, so that Fleet Engine omits an unchanged
    /// one. Scheduled tasks have no versions.
    package func request(
        to endpoint: HTTPURL, token: String, routeVersion: String?, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        let version = routeVersion.map { "currentRouteSegmentVersion=" + HTTPURL.percentEncoded($0) }
        let url =
            switch self {
            case .trip(let trip):
                try trip.url(
                    at: endpoint,
                    query: ["view=JOURNEY_SHARING_V1S", version].compactMap(\.self).joined(separator: "&"))
            case .vehicle(let vehicle):
                try vehicle.url(at: endpoint, query: vehicle.service == .onDemandTrips ? version ?? "" : "")
            }
        return HTTPRequest(.get, url, headers: HTTPHeaders(["Authorization": "Bearer " + token]), limits: limits)
    }
}
