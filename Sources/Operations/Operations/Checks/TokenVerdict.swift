package import BackendAuthorization
package import Conditions
import ReportedText
package import VehicleAuthorization

/// The service's verdict on a token: whether it would use the token, and whether Fleet Engine would accept it.
package struct TokenVerdict: Sendable, Hashable {
    /// The first reason why the service wouldn't use the token; `nil` if it would use it.
    package let fault: TokenFault?
    /// Any further reasons why the service wouldn't use the token.
    package let otherFaults: [TokenFault]
    /// Warnings for the token's issuer.
    package let warnings: [AuthorizationWarning]
    /// The names of the claims for which Fleet Engine may reject the token although the service uses it.
    package let doubtfulClaims: [String]
    /// The reason why Fleet Engine is certain to reject the token although the service uses it; `nil` if a rejection
    /// isn't certain.
    package let rejection: TokenFinding?

    package var fits: Bool { fault == nil }
    /// The code of the condition that the service raises because of the token, if any.
    package var code: ConditionCode? { fault.map(ConditionCode.init) ?? (warnings.isEmpty ? nil : .tokenSupplyAtRisk) }
    /// The message about `fault` with its remedy, in one line; `nil` if there is no fault.
    package var problem: String? { fault?.wording.sentence.description }
    /// The messages about the further faults and the warnings, each in one line.
    package var remarks: [String] { otherFaults.map { "\($0.wording.sentence)" } + warnings.map { "\($0)" } }

    /// Judges the token in the provider's response.
    ///
    /// - Parameters:
    ///   - answer: the provider's response.
    ///   - context: the vehicle or trip that the token must be for.
    ///   - rules: the service's rules for claims.
    package init(_ answer: TokenAnswer, for context: AuthorizationContext, by rules: ClaimRules) {
        let doubts = rules.warnings(about: answer.parsed, for: context)
        do throws(AuthorizationError) {
            let token = try rules.checked(try answer.unexpiredToken(), for: context)
            var cache = TokenCache()
            _ = cache.requestToken(for: context, now: .zero)
            let fetched = cache.recordOutcome(.success(token), for: context, begun: .zero, now: .zero, jitter: 1)
            _ = try fetched.answer.get()
            fault = nil
            otherFaults = []
            warnings = fetched.warnings ?? []
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
        return isTooLong && JSONWebToken.isPlausible(expiry) ? .expiryTooFarAhead : nil
    }
}

/// The role that a token's private claims grant (see the table of roles in Fleet Engine's documentation).
package enum TokenRole: Sendable, Hashable, CustomStringConvertible {
    case driver(vehicleID: String)
    case deliveryDriver(vehicleID: String)
    case consumer(tripID: String)
    /// A consumer who tracks a delivery or its tasks.
    case deliveryConsumer(id: String)
    /// A server, whose token has the id `*` and is valid for every vehicle and trip.
    case server
    /// No role, because the token has no private claims.
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
