/// What the token endpoint does wrong, how often and when; the default is nothing.
///
/// Rates are shares of the requests for a token, from 0 to 1. Seconds count from the start.
package struct TokenFaultPlan: Sendable, Hashable {
    /// When the endpoint answers 503.
    package enum Outage: Sendable, Hashable {
        case seconds(ClosedRange<Double>)
        /// The first so many requests for a token.
        case first(Int)
    }

    /// How the number beside the token is meant; the samples differ in nothing more.
    package enum ExpiryStyle: String, Sendable, Hashable, CaseIterable {
        case epochSeconds, epochMilliseconds, secondsFromNow
        /// Seconds since 1970 in quotes.
        case text
        /// There is no number.
        case none
    }

    package var outage: Outage?
    package var rates: [FaultRate<TokenFault>] = []
    /// Waited before each answer, in seconds, drawn evenly.
    package var delay: ClosedRange<Double>?
    /// Life of the tokens, in seconds.
    package var life = 3600
    /// `nil` leaves it to the answer's shape.
    package var expiryStyle: ExpiryStyle?
    /// How far the issuer's clock is ahead of Fleet Engine's, in seconds.
    package var clockOffset = 0
    /// When the service account gets a new key; tokens signed with the one before are rejected from then on.
    package var keyRotations: [Double] = []

    package init() {}

    /// The part of the requests that the rates take.
    package var rateSum: Double { rates.reduce(0) { $0 + $1.rate } }

    /// What happens to request number `number`, counted from 1; `draw` gives a number from 0..<1 where one is needed.
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

    /// How often the key has been changed, `seconds` after the start.
    func keyGeneration(at seconds: Double) -> Int { keyRotations.count { $0 <= seconds } }

    /// One line for each ordered fault, for the page and the log.
    var words: [String] {
        var words: [String] = []
        switch outage {
        case .seconds(let range): words.append("no tokens from \(range.lowerBound) to \(range.upperBound) s")
        case .first(let count):
            words.append("the first \(count == 1 ? "token request fails" : "\(count) token requests fail")")
        case nil: break
        }
        words += rates.map { "\(($0.rate * 1000).rounded() / 10) % of token \($0.kind.words)" }
        if let delay { words.append("token answers delayed \(FaultPlan.words(for: delay))") }
        if life != 3600 { words.append("tokens live \(life) s") }
        if let expiryStyle { words.append("token expiry as \(expiryStyle.rawValue)") }
        if clockOffset != 0 { words.append("issuer's clock off by \(clockOffset) s") }
        return words + keyRotations.map { "new key at \($0) s" }
    }
}

/// What is wrong with one answer of the token endpoint.
package enum TokenFault: Sendable, Hashable {
    case error(status: Int)
    /// A login page with status 200.
    case page
    /// Status 200 without a body.
    case empty
    /// The token is for another subject.
    case wrongVehicle
    case wrongAudience
    case expired

    /// The word that orders it: a status, or the name of the fault.
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

    /// For the page and the log.
    var words: String {
        switch self {
        case .error(let status): "answers \(status)"
        case .page: "answers are a login page"
        case .empty: "answers are empty"
        case .wrongVehicle: "tokens are somebody else's"
        case .wrongAudience: "tokens are for another audience"
        case .expired: "tokens have expired"
        }
    }
}

extension TokenFaultPlan {
    /// Those of `FaultPlan.options` that order something here.
    package static let options = [
        FaultPlan.Option("--token-outage", "COUNT|FROM..TO", "token requests fail: the first ones, or seconds"),
        FaultPlan.Option(
            "--token-errors", "FAULT:RATE,...",
            "token answers: a status, page, empty, wrongVehicle, wrongAudience or expired"),
        FaultPlan.Option("--token-delay", "SECONDS[..SECONDS]", "wait before each token answer"),
        FaultPlan.Option("--token-life", "SECONDS", "life of tokens, 1 to 3600"),
        FaultPlan.Option(
            "--token-expiry", "STYLE", "epochSeconds, epochMilliseconds, secondsFromNow, text or none",
            choices: ExpiryStyle.allCases.map(\.rawValue)),
        FaultPlan.Option("--token-clock", "SECONDS", "the issuer's clock is ahead, or behind if negative"),
        FaultPlan.Option("--key-rotation", "SECONDS", "then earlier tokens become invalid", isRepeatable: true),
    ]

    /// Orders one fault; `false` when there is none of that name.
    mutating func set(_ value: FaultOptionValue) throws(FaultPlan.OptionError) -> Bool {
        switch value.option {
        case "--token-outage":
            if Int(value.text) != nil {
                outage = .first(try value.count(0...1_000_000))
            } else {
                outage = .seconds(try value.range(or: ", or a COUNT of token requests as 3"))
            }
        case "--token-errors":
            rates = try value.rates(
                "FAULT:RATE, as 503:0.3 or page:0.1, where FAULT is 400 to 599, page, empty, wrongVehicle, "
                    + "wrongAudience or expired", TokenFault.init)
        case "--token-delay": delay = try value.delay()
        case "--token-life": life = try value.count(1...3600)
        case "--token-expiry": expiryStyle = .some(try value.choice())
        case "--token-clock": clockOffset = try value.count(-1_000_000_000...1_000_000_000)
        case "--key-rotation": keyRotations.append(try value.seconds())
        default: return false
        }
        return true
    }
}
