extension FaultPlan {
    /// An option of the command line.
    package struct Option: Sendable, Hashable {
        /// As `--errors`.
        package let name: String
        /// Stands for the value in a help text.
        package let placeholder: String
        package let help: String
        /// Whether each use orders one fault more.
        package let isRepeatable: Bool

        init(_ name: String, _ placeholder: String, _ help: String, isRepeatable: Bool = false) {
            (self.name, self.placeholder, self.help) = (name, placeholder, help)
            self.isRepeatable = isRepeatable
        }
    }

    /// Why an option's value cannot be used.
    package struct OptionError: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Every option that `set` takes.
    package static let options =
        [
            Option("--errors", "STATUS:RATE,...", "answer with errors, as 503:0.3,401:0.05"),
            Option("--resets", "RATE", "reset connections before anything is committed"),
            Option("--drops", "RATE", "commit, then close without an answer"),
            Option("--stalls", "RATE", "commit, then stop in the middle of the answer"),
            Option("--delay", "SECONDS[..SECONDS]", "wait before each answer"),
            Option("--retry-after", "SECONDS", "send Retry-After with ordered 429 and 503"),
            Option("--retry-info", "SECONDS", "send RetryInfo with ordered 429 and 503"),
            Option("--past-limit", "COUNT", "refuse updates with more past locations"),
            Option("--outage", "FROM..TO", "nothing answers in these seconds", isRepeatable: true),
        ] + TokenFaultPlan.options

    /// Orders one fault, as `set("--errors", "503:0.3,401:0.05")`.
    package mutating func set(_ option: String, _ text: String) throws(OptionError) {
        let before = self
        let value = FaultOptionValue(option, text)
        switch option {
        case "--errors":
            errors = try value.rates("STATUS:RATE, as 503:0.3") { status in
                Int(status).flatMap { (400...599).contains($0) ? $0 : nil }
            }.map { ErrorRate(status: $0.kind, rate: $0.rate) }
        case "--resets": resets = try value.rate()
        case "--drops": drops = try value.rate()
        case "--stalls": stalls = try value.rate()
        case "--delay": delay = try value.delay()
        case "--retry-after": retryAdvice = .header(seconds: try value.count(0...86400))
        case "--retry-info": retryAdvice = .detail(seconds: try value.count(0...86400))
        case "--past-limit": maximumPastLocations = try value.count(0...10_000)
        case "--outage": outages.append(try value.range())
        default:
            guard try tokens.set(value) else {
                throw OptionError(
                    description:
                        "\(option) is not a fault; known are \(Self.options.map(\.name).joined(separator: ", "))")
            }
        }
        guard rateSum <= 1, tokens.rateSum <= 1 else {
            self = before
            throw OptionError(description: "\(option) \(text): the rates of all faults together exceed 1")
        }
    }
}
