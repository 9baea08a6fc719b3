extension FaultPlan {
    /// An option of the command line.
    package struct Option: Sendable, Hashable {
        /// As `--errors`.
        package let name: String
        /// Stands for the value in a help text.
        package let placeholder: String
        package let help: String
    }

    /// Why an option's value cannot be used.
    package struct OptionError: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Every option that `set` takes.
    package static let options = [
        Option(name: "--errors", placeholder: "STATUS:RATE,...", help: "answer with errors, as 503:0.3,401:0.05"),
        Option(name: "--resets", placeholder: "RATE", help: "reset connections before anything is committed"),
        Option(name: "--drops", placeholder: "RATE", help: "commit, then close without an answer"),
        Option(name: "--stalls", placeholder: "RATE", help: "commit, then stop in the middle of the answer"),
        Option(name: "--delay", placeholder: "SECONDS[..SECONDS]", help: "wait before each answer"),
        Option(name: "--retry-after", placeholder: "SECONDS", help: "send Retry-After with ordered 429 and 503"),
        Option(name: "--retry-info", placeholder: "SECONDS", help: "send RetryInfo with ordered 429 and 503"),
        Option(
            name: "--token-outage", placeholder: "COUNT|FROM..TO",
            help: "token requests fail: the first ones, or seconds"),
        Option(name: "--token-life", placeholder: "SECONDS", help: "life of tokens, 1 to 3600"),
        Option(name: "--outage", placeholder: "FROM..TO", help: "nothing answers in these seconds; may be repeated"),
    ]

    /// Orders one fault, as `set("--errors", "503:0.3,401:0.05")`.
    package mutating func set(_ option: String, _ value: String) throws(OptionError) {
        let before = self
        switch option {
        case "--errors": errors = try Self.errorRates(value)
        case "--resets": resets = try Self.rate(value, of: option)
        case "--drops": drops = try Self.rate(value, of: option)
        case "--stalls": stalls = try Self.rate(value, of: option)
        case "--delay":
            if let seconds = Self.seconds(value) {
                delay = seconds...seconds
            } else {
                delay = try Self.range(value, of: option)
            }
        case "--retry-after": retryAdvice = .header(seconds: try Self.count(value, of: option, 0...86400))
        case "--retry-info": retryAdvice = .detail(seconds: try Self.count(value, of: option, 0...86400))
        case "--token-outage":
            if let count = Int(value) {
                tokenOutage = .first(count)
            } else {
                tokenOutage = .seconds(try Self.range(value, of: option))
            }
        case "--token-life": tokenLife = try Self.count(value, of: option, 1...3600)
        case "--outage": outages.append(try Self.range(value, of: option))
        default:
            throw OptionError(
                description: "\(option) is not a fault; known are \(Self.options.map(\.name).joined(separator: ", "))")
        }
        guard rateSum <= 1 else {
            self = before
            throw OptionError(description: "\(option) \(value): the rates of all faults together exceed 1")
        }
    }

    private static func errorRates(_ value: String) throws(OptionError) -> [ErrorRate] {
        var rates: [ErrorRate] = []
        for entry in value.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard halves.count == 2, let status = Int(halves[0]), (400...599).contains(status) else {
                throw OptionError(description: "--errors \(value): \"\(entry)\" must read STATUS:RATE, as 503:0.3")
            }
            rates.append(ErrorRate(status: status, rate: try rate(String(halves[1]), of: "--errors")))
        }
        return rates
    }

    private static func rate(_ value: String, of option: String) throws(OptionError) -> Double {
        guard let rate = Double(value), (0...1).contains(rate) else {
            throw OptionError(description: "\(option) \(value): a rate is a number from 0 to 1")
        }
        return rate
    }

    private static func count(_ value: String, of option: String, _ range: ClosedRange<Int>) throws(OptionError) -> Int
    {
        guard let count = Int(value), range.contains(count) else {
            throw OptionError(
                description: "\(option) \(value): use a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    private static func range(_ value: String, of option: String) throws(OptionError) -> ClosedRange<Double> {
        guard let dots = value.firstRange(of: ".."), let lower = seconds(value[..<dots.lowerBound]),
            let upper = seconds(value[dots.upperBound...]), lower <= upper
        else { throw OptionError(description: "\(option) \(value): write a range of seconds as 10..30") }
        return lower...upper
    }

    private static func seconds(_ text: some StringProtocol) -> Double? {
        guard let seconds = Double(String(text)), (0...1_000_000).contains(seconds) else { return nil }
        return seconds
    }
}
