package import HTTPMessages

/// A resource that a consumer follows by reading it repeatedly: a trip, or a vehicle of either service.
package enum FollowedResource: Sendable, Hashable, CustomStringConvertible {
    case trip(TripName)
    case vehicle(VehicleName)

    /// The resource's name as it appears in responses.
    package var description: String {
        switch self {
        case .trip(let trip): trip.description
        case .vehicle(let vehicle): vehicle.description
        }
    }

    /// Returns a `GetTrip`, `GetVehicle` or `GetDeliveryVehicle` request that is authorised by `token`.
    ///
    /// A request for a trip specifies a view, as Google advises for callers other than its SDKs. The default view is
    /// for the SDKs.
    ///
    /// `routeVersion` is the version of the route in the previous response. It allows Fleet Engine to omit a route that
    /// hasn't changed. Scheduled tasks have no route versions.
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
