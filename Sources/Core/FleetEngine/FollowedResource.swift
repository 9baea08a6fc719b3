package import HTTPMessages
package import ReportedText
import StrictJSON

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

/// What an answer means for a follower of a trip or vehicle; the same table as for updates, seen by a reader.
package enum ReadOutcome: Sendable, Hashable {
    case seen(FollowedSnapshot)
    /// The token was rejected: once more with a new one, then hold.
    case tokenRefused(reason: ReportedText)
    /// Will pass by itself: again after a backoff, and not before `after`.
    case retry(reason: ReportedText, after: Duration?)
    /// Waypost cannot resolve it itself: there is no such trip, the API is off.
    case hold(reason: ReportedText)

    /// Judges an answer to the question for `resource`.
    package init(of response: HTTPResponse, to request: HTTPRequest, for resource: FollowedResource) {
        self.init(UploadOutcome(of: response, to: request, naming: resource.description)) {
            (try? JSONValue(parsing: response.body)).flatMap {
                FollowedSnapshot($0, named: resource.description, without: request.secrets)
            }
        }
        if response.status == 404, case .hold(let reason) = self {
            self = .hold(reason: "\(reason); correct the id, or let the backend create it")
        }
    }

    /// Judges an exchange that brought no answer.
    package init(of error: HTTPTransportError) {
        self.init(UploadOutcome(of: error)) { nil }
        if [.nameNotResolved, .connectionFailed, .timedOut].contains(error.code),
            case .retry(let reason, let after) = self
        {
            self = .retry(reason: "\(reason); check the network, and upload.endpoint", after: after)
        }
    }

    private init(_ outcome: UploadOutcome, snapshot: () -> FollowedSnapshot?) {
        switch outcome {
        case .delivered:
            self =
                snapshot().map(Self.seen)
                ?? .retry(reason: "200 with a body that is not valid JSON", after: nil)
        case .tokenRefused(let reason): self = .tokenRefused(reason: reason)
        case .retry(let reason, let after): self = .retry(reason: reason, after: after)
        case .throttled(let reason, let after): self = .retry(reason: reason, after: after)
        case .unreachable(let reason), .intercepted(let reason, _): self = .retry(reason: reason, after: nil)
        case .hold(let reason), .rejected(let reason): self = .hold(reason: reason)
        }
    }
}
