package import FleetEngine
import ReportedText
import StrictJSON
package import VehicleAuthorization

/// What speaks against a token: pure, from what it says and who asks.
package struct TokenVerdict: Sendable, Hashable {
    /// Why Fleet Engine will not take it from this vehicle, each the end of a sentence that begins with "the token".
    package private(set) var problems: [String] = []
    /// What works for now and should be corrected, each the same.
    package private(set) var remarks: [String] = []

    package var fits: Bool { problems.isEmpty }

    /// - Parameters:
    ///   - token: the token.
    ///   - vehicle: whom it has to fit.
    ///   - trip: what it has to fit in place of that.
    ///   - lifetime: what is left of its life, where that is known.
    ///   - issuerTime: the issuer's clock in seconds since 1970, where it is known.
    ///   - hostTime: this host's, which judges only where nothing else does.
    package init(
        _ token: JSONWebToken, for vehicle: VehicleName, trip: String? = nil, lifetime: Duration?,
        issuerTime: Double?, hostTime: Double
    ) {
        judgeHeader(token)
        let context =
            trip.map { AuthorizationContext(tripID: $0) } ?? AuthorizationContext(vehicleID: vehicle.vehicleID)
        if let problem = ClaimRules().problem(of: token, for: context) { problems.append(problem) }
        if trip == nil { judgeRole(of: token, vehicle) }
        judgeTimes(of: token, lifetime, issuerTime)
        if lifetime == nil { judgeExpiry(of: token, hostTime) }
    }

    private mutating func judgeHeader(_ token: JSONWebToken) {
        let algorithm = token.header["alg"]?.stringValue ?? "nothing"
        if algorithm != "RS256" {
            problems.append("is signed with \(ReportedText(algorithm, limit: 20)); Fleet Engine accepts RS256")
        }
        if token.header["kid"]?.stringValue == nil {
            remarks.append("names no key; let the issuer set kid to the service account's private key id")
        }
    }

    private mutating func judgeRole(of token: JSONWebToken, _ vehicle: VehicleName) {
        let claims = token.authorization
        switch (vehicle.service, TokenRole(token)) {
        case (_, .server):
            remarks.append("is a server token, valid for every vehicle; let the backend issue driver tokens")
        case (_, .unstated):
            remarks.append("has no authorization claim; let the issuer state vehicleid or deliveryvehicleid")
        case (.onDemandTrips, .deliveryDriver) where claims?.vehicleID == nil:
            problems.append(
                "is for delivery vehicles, but vehicle.service is onDemandTrips; let the issuer set vehicleid")
        case (.scheduledTasks, .driver) where claims?.deliveryVehicleID == nil:
            problems.append(
                "is for on-demand vehicles, but vehicle.service is scheduledTasks; let the issuer set deliveryvehicleid"
            )
        default: break
        }
    }

    private mutating func judgeTimes(of token: JSONWebToken, _ lifetime: Duration?, _ issuerTime: Double?) {
        for (name, time) in [("iat", token.issuedAt), ("exp", token.expiry)] {
            if let time, JSONWebToken.isPlausible(time) { continue }
            let fault = time.map { "has the \(name) \($0), which is no time" } ?? "has no \(name)"
            problems.append("\(fault); let the issuer set it, in seconds since 1970")
        }
        if let issuedAt = token.issuedAt, JSONWebToken.isPlausible(issuedAt), let issuerTime,
            issuedAt - issuerTime > 600
        {
            problems.append(
                "was issued \(Duration.seconds(issuedAt - issuerTime).spoken) in the future by the backend's own "
                    + "clock; Fleet Engine accepts 10 min")
        }
        guard let lifetime else { return }
        if lifetime <= .zero {
            problems.append("expired \(lifetime.spoken) ago; let the issuer make a new one, and check its clock")
        } else if lifetime > .seconds(3660) {
            problems.append("lives \(lifetime.spoken); Fleet Engine accepts an hour at most")
        } else if lifetime <= CachePolicy().minimumLife {
            remarks.append("lives \(lifetime.spoken) only; let the issuer give an hour")
        }
    }

    private mutating func judgeExpiry(of token: JSONWebToken, _ hostTime: Double) {
        guard let expiry = token.expiry, expiry > 0, expiry < hostTime else { return }
        problems.append(
            "expired \(Duration.seconds(hostTime - expiry).spoken) ago by this host's clock; "
                + "if that is right, let the issuer make a new one")
    }
}

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
