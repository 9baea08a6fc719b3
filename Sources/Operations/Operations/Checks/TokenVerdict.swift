package import BackendAuthorization
import Conditions
import ReportedText
package import VehicleAuthorization

/// What the service would do with a token, found out by letting its own rules judge it.
package struct TokenVerdict: Sendable, Hashable {
    /// Why it would not be used; `nil` if it would.
    package let fault: TokenFault?
    /// What else would keep it from being used.
    package let otherFaults: [TokenFault]
    /// What the issuer should correct in addition.
    package let warnings: [AuthorizationWarning]
    /// For which of its claims Fleet Engine may reject a token that the service sends.
    package let doubtfulClaims: [String]
    /// What Fleet Engine is sure to reject about a token that the service sends, and the remedy: the end of a sentence
    /// that begins with "Fleet Engine rejects".
    package let rejection: String?

    package var fits: Bool { fault == nil }
    /// The fault, in words.
    package var problem: String? { fault?.wording.sentence.description }
    /// Everything else, in words.
    package var remarks: [String] { otherFaults.map { "\($0.wording.sentence)" } + warnings.map { "\($0)" } }

    /// - Parameters:
    ///   - answer: what the provider gave.
    ///   - context: whom it has to fit.
    ///   - rules: the service's.
    package init(_ answer: TokenAnswer, for context: AuthorizationContext, by rules: ClaimRules) {
        let doubts = rules.doubts(about: answer.parsed, for: context)
        do throws(AuthorizationError) {
            let token = try rules.checked(try answer.unexpiredToken(), for: context)
            var cache = TokenCache()
            _ = cache.request(context, now: .zero)
            let fetched = cache.fetched(.success(token), for: context, begun: .zero, now: .zero, jitter: 1)
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
            warnings = doubts.map { .doubtfulToken(.claims($0, context)) }
            doubtfulClaims = []
            rejection = nil
        }
    }

    private static func rejection(ofExpiry expiry: Double?, isTooLong: Bool) -> String? {
        guard let expiry else { return nil }
        if JSONWebToken.isInMilliseconds(expiry) {
            return "an exp in milliseconds, which is thousands of years ahead; let the issuer divide it by 1000"
        }
        guard isTooLong, JSONWebToken.isPlausible(expiry) else { return nil }
        return "an exp more than an hour ahead; let the issuer set an earlier one"
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
