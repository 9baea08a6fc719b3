package import BackendAuthorization
package import Conditions
import ReportedText
package import VehicleAuthorization

/// The verdict on a token by the service's own rules.
package struct TokenVerdict: Sendable, Hashable {
    /// The reason why the service wouldn't use the token; `nil` if it would.
    package let fault: TokenFault?
    /// Further reasons why the service wouldn't use it.
    package let otherFaults: [TokenFault]
    /// Warnings for the issuer.
    package let warnings: [AuthorizationWarning]
    /// The claims that may make Fleet Engine reject a token that the service sends.
    package let doubtfulClaims: [String]
    /// The reason why Fleet Engine is certain to reject a token that the service sends; `nil` if it isn't.
    package let rejection: TokenFinding?

    package var fits: Bool { fault == nil }
    /// The fault with its remedy, in one line.
    package var problem: String? { fault?.wording.sentence.description }
    /// The further faults and the warnings, each in one line.
    package var remarks: [String] { otherFaults.map { "\($0.wording.sentence)" } + warnings.map { "\($0)" } }

    /// Creates the verdict.
    ///
    /// - Parameters:
    ///   - answer: the provider's answer.
    ///   - context: the vehicle or trip that the token must be for.
    ///   - rules: the service's rules.
    package init(_ answer: TokenAnswer, for context: AuthorizationContext, by rules: ClaimRules) {
        let doubts = rules.warnings(about: answer.parsed, for: context)
        do throws(AuthorizationError) {
            let token = try rules.checked(try answer.unexpiredToken(), for: context)
            var cache = TokenCache()
            _ = cache.request(context, now: .zero)
            let fetched = cache.didFetch(.success(token), for: context, begun: .zero, now: .zero, jitter: 1)
            _ = try fetched.answer.get()
            fault = nil
            otherFaults = []
            warnings = fetched.warnings
            doubtfulClaims = doubts.compactMap(\.claim)
            let isTooLong = warnings.contains { if case .longLivedTokens = $0 { true } else { false } }
            rejection = Self.rejection(ofExpiry: answer.parsed.expiry, isTooLong: isTooLong)
        } catch {
            fault = error.fault
            otherFaults = rules.problems(of: answer.parsed, for: context).map { .wrongClaims($0, context) }
                .filter { $0 != error.fault }
            warnings = doubts.map { .questionableToken(.claims($0, context)) }
            doubtfulClaims = []
            rejection = nil
        }
    }

    private static func rejection(ofExpiry expiry: Double?, isTooLong: Bool) -> TokenFinding? {
        guard let expiry else { return nil }
        if JSONWebToken.isInMilliseconds(expiry) { return .expiryInMilliseconds }
        return isTooLong && JSONWebToken.isPlausible(expiry) ? .expiryTooFar : nil
    }
}

/// The role of a token according to its private claims (see the table of roles in Fleet Engine's documentation).
package enum TokenRole: Sendable, Hashable, CustomStringConvertible {
    case driver(vehicleID: String)
    case deliveryDriver(vehicleID: String)
    case consumer(tripID: String)
    /// A consumer of a tracked delivery or its tasks.
    case deliveryConsumer(id: String)
    /// A token with the id `*`, which is valid for every vehicle and trip.
    case server
    /// A token without private claims.
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
