package import HTTPMessages

/// What a consumer reads again and again: a trip, or a vehicle of either service.
package enum FollowedResource: Sendable, Hashable, CustomStringConvertible {
    case trip(TripName)
    case vehicle(VehicleName)

    /// The resource's name, as answers have it.
    package var description: String {
        switch self {
        case .trip(let trip): trip.description
        case .vehicle(let vehicle): vehicle.description
        }
    }

    /// A `GetTrip`, `GetVehicle` or `GetDeliveryVehicle` call with `token` in it.
    ///
    /// `routeVersion`: that of the route which the last answer carried; Fleet Engine leaves an unchanged one out.
    /// Scheduled tasks know no versions. Of a trip another view than the default is asked for: the default is made for
    /// Google's SDKs, and Google advises others to name a different one.
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
