extension TokenFaultPlan {
    static let options = [
        FaultPlan.Option("--token-outage", "COUNT|FROM..TO", "token requests fail: the first ones, or seconds"),
        FaultPlan.Option(
            "--token-errors", "FAULT:RATE,...",
            "token answers: a status, page, empty, wrongVehicle, wrongAudience or expired"),
        FaultPlan.Option("--token-delay", "SECONDS[..SECONDS]", "wait before each token answer"),
        FaultPlan.Option("--token-life", "SECONDS", "life of tokens, 1 to 3600"),
        FaultPlan.Option(
            "--token-expiry", "STYLE", "epochSeconds, epochMilliseconds, secondsFromNow, text or none"),
        FaultPlan.Option("--token-clock", "SECONDS", "the issuer's clock is ahead, or behind if negative"),
        FaultPlan.Option("--key-rotation", "SECONDS", "then earlier tokens become invalid", isRepeatable: true),
    ]

    /// Orders one fault; `false` when there is none of that name.
    mutating func set(_ value: FaultOptionValue) throws(FaultPlan.OptionError) -> Bool {
        switch value.option {
        case "--token-outage":
            if let count = Int(value.text) { outage = .first(count) } else { outage = .seconds(try value.range()) }
        case "--token-errors":
            rates = try value.rates("FAULT:RATE, as 503:0.3 or page:0.1", TokenFault.init)
                .map { FaultRate(fault: $0.kind, rate: $0.rate) }
        case "--token-delay": delay = try value.delay()
        case "--token-life": life = try value.count(1...3600)
        case "--token-expiry": expiryStyle = .some(try value.choice())
        case "--token-clock": clockOffset = try value.count(-1_000_000_000...1_000_000_000)
        case "--key-rotation": keyRotations.append(try value.delay().lowerBound)
        default: return false
        }
        return true
    }
}
