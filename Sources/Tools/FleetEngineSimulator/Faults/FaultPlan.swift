/// The faults that the simulator injects, with their rates and times. By default there are none.
///
/// Rates are shares of the requests to Fleet Engine, from 0 to 1. A request has at most one fault. Times are in seconds
/// after the start of the simulator.
package struct FaultPlan: Sendable, Hashable {
    /// The rates of error responses, by HTTP status.
    package var errors: [FaultRate<Int>] = []
    /// The rate of requests whose connection is reset before their update is committed.
    package var resets = 0.0
    /// The rate of requests whose update is committed, but whose connection is then closed without a response.
    package var drops = 0.0
    /// The rate of requests whose update is committed, but whose response stops after the first bytes.
    package var stalls = 0.0
    /// The range of the delay before a response, in seconds; `nil` for no delay. The delay of each response is drawn
    /// uniformly from the range.
    package var delay: ClosedRange<Double>?
    /// The advice on when to retry, sent with injected errors with status 429 or 503; `nil` for none.
    package var retryAdvice: RetryAdvice?
    package var tokens = TokenFaultPlan()
    /// The maximum number of past locations in an update; `nil` for no limit. An update with more past locations is
    /// rejected with status 400. Fleet Engine's own limit isn't published.
    package var maximumPastLocations: Int?
    /// The planned outages, in seconds after the start. During an outage, all connections except those to the page and
    /// the record are reset.
    package var outages: [ClosedRange<Double>] = []

    package init() {}

    package var rateSum: Double { errors.reduce(resets + drops + stalls) { $0 + $1.rate } }

    /// Returns the fault to inject into a request. `draw` is a random number in 0..<1.
    package func fault(draw: Double) -> Fault {
        var threshold = 0.0
        for error in errors {
            threshold += error.rate
            if draw < threshold { return .error(status: error.kind) }
        }
        for (rate, fault) in [(resets, Fault.reset), (drops, .drop), (stalls, .stall)] {
            threshold += rate
            if draw < threshold { return fault }
        }
        return .none
    }

    /// Whether a planned outage includes the moment `seconds` after the start.
    package func hasOutage(at seconds: Double) -> Bool { outage(at: seconds) != nil }

    /// Returns the planned outage that includes the moment `seconds` after the start, joined with all outages that
    /// overlap or touch it.
    func outage(at seconds: Double) -> ClosedRange<Double>? {
        guard var outage = outages.first(where: { $0.contains(seconds) }) else { return nil }
        while let wider = outages.first(where: {
            $0.overlaps(outage) && ($0.lowerBound < outage.lowerBound || $0.upperBound > outage.upperBound)
        }) {
            outage = min(outage.lowerBound, wider.lowerBound)...max(outage.upperBound, wider.upperBound)
        }
        return outage
    }

    /// Returns the first planned outage that begins later than `seconds` after the start.
    func nextOutage(after seconds: Double) -> ClosedRange<Double>? {
        outages.map(\.lowerBound).filter { $0 > seconds }.min().flatMap(outage)
    }

    /// Returns the range of a delay as text, such as `0.1 to 2.0 s`, or `0.5 s` if the delay is constant.
    static func text(for delay: ClosedRange<Double>) -> String {
        delay.lowerBound == delay.upperBound
            ? "\(delay.lowerBound) s" : "\(delay.lowerBound) to \(delay.upperBound) s"
    }

    /// Descriptions of the configured faults for the user, one per fault.
    package var descriptions: [String] {
        descriptionsWithoutOutages + outages.map { "outage from \($0.lowerBound) to \($0.upperBound) s" }
    }

    /// Descriptions of the configured faults except outages.
    var descriptionsWithoutOutages: [String] {
        func percent(_ rate: Double) -> String { "\((rate * 1000).rounded() / 10) %" }
        var descriptions = errors.map { "\(percent($0.rate)) of answers have status \($0.kind)" }
        if resets > 0 { descriptions.append("\(percent(resets)) of requests reset") }
        if drops > 0 { descriptions.append("\(percent(drops)) of answers dropped after the commit") }
        if stalls > 0 { descriptions.append("\(percent(stalls)) of answers stalled") }
        if let delay { descriptions.append("answers delayed by \(Self.text(for: delay))") }
        switch retryAdvice {
        case .header(let seconds): descriptions.append("Retry-After: \(seconds)")
        case .detail(let seconds): descriptions.append("RetryInfo of \(seconds) s")
        case nil: break
        }
        if let maximumPastLocations { descriptions.append("more than \(maximumPastLocations) past locations rejected") }
        return descriptions + tokens.descriptions
    }
}

package struct FaultRate<Kind: Sendable & Hashable>: Sendable, Hashable {
    package var kind: Kind
    package var rate: Double
}

package enum Fault: Sendable, Hashable {
    case none
    case error(status: Int)
    case reset
    case drop
    case stall
    /// A reset of every connection, as if the network were down.
    case outage

    /// The fault's name in the record and on the page; `nil` if there is no fault.
    package var name: String? {
        switch self {
        case .none: nil
        case .error: "error"
        case .reset: "reset"
        case .drop: "drop"
        case .stall: "stall"
        case .outage: "outage"
        }
    }
}

extension FaultPlan {
    package struct Option: Sendable, Hashable {
        /// The name of the option, such as `--errors`.
        package let name: String
        /// The placeholder for the value in the option's help.
        package let placeholder: String
        package let help: String
        /// Whether the option may be given more than once. Each use adds a fault.
        package let isRepeatable: Bool
        /// The possible values; empty if there are too many to list.
        package let choices: [String]

        init(
            _ name: String, _ placeholder: String, _ help: String, isRepeatable: Bool = false, choices: [String] = []
        ) {
            self.name = name
            self.placeholder = placeholder
            self.help = help
            self.isRepeatable = isRepeatable
            self.choices = choices
        }
    }

    /// An error about an unknown fault option or an invalid value.
    package struct OptionError: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The fault options that `set` accepts.
    package static let options =
        [
            Option("--errors", "STATUS:RATE,...", "answer with errors, such as 503:0.3,401:0.05"),
            Option("--resets", "RATE", "reset connections before anything is committed"),
            Option("--drops", "RATE", "commit the update, then close the connection without an answer"),
            Option("--stalls", "RATE", "commit the update, then stop in the middle of the answer"),
            Option("--delay", "SECONDS[..SECONDS]", "wait before each answer"),
            Option("--retry-after", "SECONDS", "send Retry-After with injected errors 429 and 503"),
            Option("--retry-info", "SECONDS", "send RetryInfo with injected errors 429 and 503"),
            Option("--past-limit", "COUNT", "reject updates with more than COUNT past locations"),
            Option(
                "--outage", "FROM..TO", "reset all connections between these seconds after the start",
                isRepeatable: true),
        ] + TokenFaultPlan.options

    /// Sets a fault option, for example with `set("--errors", "503:0.3,401:0.05")`.
    package mutating func set(_ option: String, _ text: String) throws(OptionError) {
        let before = self
        let value = FaultOptionValue(option: option, text: text)
        switch option {
        case "--errors":
            errors = try value.rates(ofForm: "STATUS:RATE, such as 503:0.3, with a status from 400 to 599") { status in
                Int(status).flatMap { (400...599).contains($0) ? $0 : nil }
            }
        case "--resets": resets = try value.rate()
        case "--drops": drops = try value.rate()
        case "--stalls": stalls = try value.rate()
        case "--delay": delay = try value.delay()
        case "--retry-after": retryAdvice = .header(seconds: try value.count(in: 0...86400))
        case "--retry-info": retryAdvice = .detail(seconds: try value.count(in: 0...86400))
        case "--past-limit": maximumPastLocations = try value.count(in: 0...10_000)
        case "--outage": outages.append(try value.range())
        default:
            guard try tokens.set(value) else {
                throw OptionError(
                    description:
                        "\(option) is not a fault option; use one of \(Self.options.map(\.name).joined(separator: ", "))"
                )
            }
        }
        guard rateSum <= 1, tokens.rateSum <= 1 else {
            self = before
            throw OptionError(description: "\(option) \(text): the rates of all faults add up to more than 1")
        }
    }
}

/// The form in which an injected error says when the client should retry.
package enum RetryAdvice: Sendable, Hashable {
    /// A `Retry-After` header.
    case header(seconds: Int)
    /// `google.rpc.RetryInfo` in the body.
    case detail(seconds: Int)
}
