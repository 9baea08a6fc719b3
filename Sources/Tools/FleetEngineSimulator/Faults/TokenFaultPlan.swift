/// The faults that the token endpoint injects, with their rates and times. By default there are none.
///
/// Rates are shares of the token requests, from 0 to 1. Times are in seconds after the start of the simulator.
package struct TokenFaultPlan: Sendable, Hashable {
    /// An outage of the token endpoint, during which token requests fail with status 503.
    package enum Outage: Sendable, Hashable {
        case seconds(ClosedRange<Double>)
        /// The first token requests after the start. The value is their number.
        case first(Int)
    }

    /// The form in which a response states the token's expiry. Google's samples use different forms.
    package enum ExpiryStyle: String, Sendable, Hashable, CaseIterable {
        case epochSeconds, epochMilliseconds, secondsFromNow
        /// The number of seconds since 1970, as a string.
        case text
        /// No expiry in the response.
        case none
    }

    package var outage: Outage?
    package var rates: [FaultRate<TokenFault>] = []
    /// The range of the delay before a response, in seconds; `nil` for no delay. The delay of each response is drawn
    /// uniformly from the range.
    package var delay: ClosedRange<Double>?
    /// The lifetime of the tokens, in seconds.
    package var lifetime = 3600
    /// The form of the expiry; `nil` selects the form that is usual for the response's format (see `TokenAnswerShape`).
    package var expiryStyle: ExpiryStyle?
    /// The number of seconds by which the issuer's clock is ahead of Fleet Engine's; negative if the issuer's clock is
    /// behind.
    package var clockOffset = 0
    /// The times, in seconds after the start, at which the service account gets a new key. From then on, tokens signed
    /// with the previous key are rejected.
    package var keyRotations: [Double] = []

    package init() {}

    package var rateSum: Double { rates.reduce(0) { $0 + $1.rate } }

    /// Returns the fault to inject into a token request. `number` is the number of the request, counted from 1. `draw`
    /// returns a random number in 0..<1.
    func fault(at seconds: Double, number: Int, draw: () -> Double) -> TokenFault? {
        let isDown =
            switch outage {
            case .seconds(let range): range.contains(seconds)
            case .first(let count): number <= count
            case nil: false
            }
        if isDown { return .error(status: 503) }
        guard !rates.isEmpty else { return nil }
        var left = draw()
        for rate in rates {
            if left < rate.rate { return rate.kind }
            left -= rate.rate
        }
        return nil
    }

    /// Returns the number of key rotations up to `seconds` after the start.
    func keyGeneration(at seconds: Double) -> Int { keyRotations.count { $0 <= seconds } }

    /// Descriptions of the configured faults.
    var descriptions: [String] {
        var descriptions: [String] = []
        switch outage {
        case .seconds(let range): descriptions.append("no tokens from \(range.lowerBound) to \(range.upperBound) s")
        case .first(let count):
            descriptions.append("the first \(count == 1 ? "token request fails" : "\(count) token requests fail")")
        case nil: break
        }
        descriptions += rates.map { "\(($0.rate * 1000).rounded() / 10) % of token \($0.kind.description)" }
        if let delay { descriptions.append("token answers delayed by \(FaultPlan.text(for: delay))") }
        if lifetime != 3600 { descriptions.append("tokens expire after \(lifetime) s") }
        if let expiryStyle { descriptions.append("token expiry as \(expiryStyle.rawValue)") }
        if clockOffset != 0 { descriptions.append("issuer's clock off by \(clockOffset) s") }
        return descriptions + keyRotations.map { "new key at \($0) s" }
    }
}

/// A fault in one response of the token endpoint.
package enum TokenFault: Sendable, Hashable {
    case error(status: Int)
    /// A login page instead of a token, with status 200.
    case page
    /// A response with status 200 but without a body.
    case empty
    /// A token for another subject, such as another vehicle.
    case wrongVehicle
    case wrongAudience
    case expired

    /// Creates the fault that `word` names, which is an HTTP status or a name such as `page`. Returns `nil` for any
    /// other word.
    init?(_ word: Substring) {
        switch word {
        case "page": self = .page
        case "empty": self = .empty
        case "wrongVehicle": self = .wrongVehicle
        case "wrongAudience": self = .wrongAudience
        case "expired": self = .expired
        default:
            guard let status = Int(word), (400...599).contains(status) else { return nil }
            self = .error(status: status)
        }
    }

    /// The text that follows the fault's rate on the page, such as `answers are empty`.
    var description: String {
        switch self {
        case .error(let status): "answers have status \(status)"
        case .page: "answers are a login page"
        case .empty: "answers are empty"
        case .wrongVehicle: "answers contain another subject's token"
        case .wrongAudience: "answers contain a token for another audience"
        case .expired: "answers contain an expired token"
        }
    }
}

extension TokenFaultPlan {
    /// The fault options for the token endpoint. `FaultPlan.options` contains them, too.
    package static let options = [
        FaultPlan.Option(
            "--token-outage", "COUNT|FROM..TO",
            "fail the first COUNT token requests, or those between these seconds after the start"),
        FaultPlan.Option(
            "--token-errors", "FAULT:RATE,...",
            "answer token requests with a status, page, empty, wrongVehicle, wrongAudience or expired"),
        FaultPlan.Option("--token-delay", "SECONDS[..SECONDS]", "wait before each token answer"),
        FaultPlan.Option("--token-life", "SECONDS", "the lifetime of tokens, from 1 to 3600 (default 3600)"),
        FaultPlan.Option(
            "--token-expiry", "STYLE",
            "the form of the expiry: epochSeconds, epochMilliseconds, secondsFromNow, text or none",
            choices: ExpiryStyle.allCases.map(\.rawValue)),
        FaultPlan.Option("--token-clock", "SECONDS", "set the issuer's clock ahead by SECONDS, or back if negative"),
        FaultPlan.Option(
            "--key-rotation", "SECONDS", "replace the key after SECONDS, so that earlier tokens are rejected",
            isRepeatable: true),
    ]

    /// Sets a fault option for the token endpoint. Returns `false` if the option isn't one of `options`.
    mutating func set(_ value: FaultOptionValue) throws(FaultPlan.OptionError) -> Bool {
        switch value.option {
        case "--token-outage":
            if Int(value.text) != nil {
                outage = .first(try value.count(in: 0...1_000_000))
            } else {
                outage = .seconds(try value.range(or: ", or a COUNT of token requests such as 3"))
            }
        case "--token-errors":
            rates = try value.rates(
                ofForm:
                    "FAULT:RATE, such as 503:0.3 or page:0.1, where FAULT is 400 to 599, page, empty, wrongVehicle, "
                    + "wrongAudience or expired", parsingKind: TokenFault.init)
        case "--token-delay": delay = try value.delay()
        case "--token-life": lifetime = try value.count(in: 1...3600)
        case "--token-expiry": expiryStyle = .some(try value.choice())
        case "--token-clock": clockOffset = try value.count(in: -1_000_000_000...1_000_000_000)
        case "--key-rotation": keyRotations.append(try value.seconds())
        default: return false
        }
        return true
    }
}
