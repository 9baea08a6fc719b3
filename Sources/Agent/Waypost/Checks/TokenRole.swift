package import VehicleAuthorization

/// Whom a token is for, by its private claims (the documentation's table of Fleet Engine roles).
package enum TokenRole: Sendable, Hashable, CustomStringConvertible {
    case driver(vehicleID: String)
    case deliveryDriver(vehicleID: String)
    case consumer(tripID: String)
    /// Of a tracked delivery or its tasks.
    case deliveryConsumer(id: String)
    /// Some id is `*`: it may act for all of them.
    case server
    /// Without private claims.
    case unstated

    package init(_ token: JSONWebToken) {
        let claims = token.authorization
        let ids = [
            claims?.vehicleID, claims?.deliveryVehicleID, claims?.tripID, claims?.trackingID, claims?.taskIDs?.first,
        ]
        if ids.contains("*") {
            self = .server
        } else if let id = claims?.vehicleID {
            self = .driver(vehicleID: id)
        } else if let id = claims?.deliveryVehicleID {
            self = .deliveryDriver(vehicleID: id)
        } else if let id = claims?.tripID {
            self = .consumer(tripID: id)
        } else if let id = claims?.trackingID ?? claims?.taskIDs?.first {
            self = .deliveryConsumer(id: id)
        } else {
            self = .unstated
        }
    }

    package var description: String {
        switch self {
        case .driver(let id): "driver of vehicle \(id)"
        case .deliveryDriver(let id): "driver of delivery vehicle \(id)"
        case .consumer(let id): "consumer of trip \(id)"
        case .deliveryConsumer(let id): "consumer of delivery \(id)"
        case .server: "server, for every id"
        case .unstated: "none stated"
        }
    }
}
