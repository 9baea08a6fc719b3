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

    /// Returns a `GetTrip`, `GetVehicle` or `GetDeliveryVehicle` request that is authorized by `token`.
    ///
    /// A trip's request specifies a view, because the default view is for Google's SDKs and Google advises other
    /// callers to specify one.
    ///
    /// `routeVersion` is the version of the route in the last answer, which allows Fleet Engine to omit an unchanged
    /// route. Scheduled tasks have no versions.
    package func request(
        to endpoint: HTTPURL, token: String, routeVersion: String?, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        let version = routeVersion.map { "currentRouteSegmentVersion=" + HTTPURL.percentEncoded($0) }
        let url =
            switch self {
            case .trip(let trip):
                try trip.url(
                    below: endpoint,
                    query: ["view=JOURNEY_SHARING_V1S", version].compactMap(\.self).joined(separator: "&"))
            case .vehicle(let vehicle):
                try vehicle.url(below: endpoint, query: vehicle.service == .onDemandTrips ? version ?? "" : "")
            }
        return HTTPRequest(.get, url, headers: HTTPHeaders(["Authorization": "Bearer " + token]), limits: limits)
    }
}
