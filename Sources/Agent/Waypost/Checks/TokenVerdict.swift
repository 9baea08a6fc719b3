package import BackendAuthorization
package import VehicleAuthorization

/// What the service would do with a token, found out by letting its own rules judge it.
package struct TokenVerdict: Sendable, Hashable {
    /// Why it would not be used, as a sentence; `nil` when it would.
    package let problem: String?
    /// What the service would report and use it all the same, each a sentence.
    package let remarks: [String]
    /// For which of its claims Fleet Engine may reject a token that the service sends.
    package let doubtfulClaims: [String]
    /// Whether the service sends it, and Fleet Engine is sure to reject it: for an `exp` too far ahead.
    package let isRejected: Bool

    package var fits: Bool { problem == nil }

    /// - Parameters:
    ///   - answer: what the provider gave.
    ///   - context: whom it has to fit.
    ///   - rules: the service's.
    package init(_ answer: TokenAnswer, for context: AuthorizationContext, by rules: ClaimRules) {
        do throws(AuthorizationError) {
            let token = try rules.checked(try answer.unexpiredToken(), for: context)
            var cache = TokenCache()
            _ = cache.request(context, now: .zero)
            let (outcome, warnings) = cache.fetched(.success(token), for: context, begun: .zero, now: .zero, jitter: 1)
            _ = try outcome.get()
            (problem, remarks) = (nil, warnings.map { "\($0)" })
            doubtfulClaims = rules.doubts(about: answer.parsed, for: context).compactMap(\.claim)
            let isTooLong = warnings.contains { if case .longLivedTokens = $0 { true } else { false } }
            isRejected = isTooLong && answer.parsed.expiry.map(JSONWebToken.isPlausible) == true
        } catch {
            (problem, remarks, doubtfulClaims, isRejected) = (error.detail, [], [], false)
        }
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
        if claims?.isForAll == true {
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
