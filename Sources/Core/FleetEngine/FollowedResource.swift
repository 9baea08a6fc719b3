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
    /// Scheduled tasks know no versions.
    package func request(
        to endpoint: HTTPURL, token: String, routeVersion: String?, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        let query = routeVersion.map { "currentRouteSegmentVersion=" + HTTPURL.percentEncoded($0) } ?? ""
        let url =
            switch self {
            case .trip(let trip): try trip.url(at: endpoint, query: query)
            case .vehicle(let vehicle):
                try vehicle.url(at: endpoint, query: vehicle.service == .onDemandTrips ? query : "")
            }
        return HTTPRequest(.get, url, headers: HTTPHeaders(["Authorization": "Bearer " + token]), limits: limits)
    }
}
