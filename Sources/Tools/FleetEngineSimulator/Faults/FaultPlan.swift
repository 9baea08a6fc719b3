/// Which faults the simulator commits, how often and when; the default is none.
///
/// Rates are shares of the Fleet Engine requests, from 0 to 1, and exclude each other. Seconds count from the start.
package struct FaultPlan: Sendable, Hashable {
    /// Answers with errors, by their status.
    package var errors: [FaultRate<Int>] = []
    /// The connection is reset; nothing was committed.
    package var resets = 0.0
    /// The update is committed, and the connection is closed without an answer.
    package var drops = 0.0
    /// The update is committed, and the answer stops after its first bytes.
    package var stalls = 0.0
    /// Waited before each answer, in seconds, drawn evenly.
    package var delay: ClosedRange<Double>?
    /// Goes with ordered errors of status 429 and 503.
    package var retryAdvice: RetryAdvice?
    /// What the token endpoint does wrong.
    package var tokens = TokenFaultPlan()
    /// More past locations in one update are rejected with 400; the real limit is not published.
    package var maximumPastLocations: Int?
    /// Nothing but the page answers: connections are reset.
    package var outages: [ClosedRange<Double>] = []

    package init() {}

    /// The part of the requests that the rates take.
    package var rateSum: Double { errors.reduce(resets + drops + stalls) { $0 + $1.rate } }

    /// What happens to one request; `draw` is from 0..<1.
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

    /// Whether an ordered outage is on, `seconds` after the start.
    package func hasOutage(at seconds: Double) -> Bool { outage(at: seconds) != nil }

    /// The ordered outage that is on, `seconds` after the start: from its beginning to the end of the last one of those
    /// that follow each other without a pause.
    func outage(at seconds: Double) -> ClosedRange<Double>? {
        guard var outage = outages.first(where: { $0.contains(seconds) }) else { return nil }
        while let wider = outages.first(where: {
            $0.overlaps(outage) && ($0.lowerBound < outage.lowerBound || $0.upperBound > outage.upperBound)
        }) {
            outage = min(outage.lowerBound, wider.lowerBound)...max(outage.upperBound, wider.upperBound)
        }
        return outage
    }

    /// The ordered outage that comes next, `seconds` after the start.
    func nextOutage(after seconds: Double) -> ClosedRange<Double>? {
        outages.map(\.lowerBound).filter { $0 > seconds }.min().flatMap(outage)
    }

    /// As `0.1 to 2.0 s`, or `0.5 s` where it is always so long.
    static func words(for delay: ClosedRange<Double>) -> String {
        delay.lowerBound == delay.upperBound
            ? "\(delay.lowerBound) s" : "\(delay.lowerBound) to \(delay.upperBound) s"
    }

    /// One line for each ordered fault.
    package var words: [String] {
        lastingWords + outages.map { "outage from \($0.lowerBound) to \($0.upperBound) s" }
    }

    /// One line for each ordered fault that is not an outage.
    var lastingWords: [String] {
        func percent(_ rate: Double) -> String { "\((rate * 1000).rounded() / 10) %" }
        var words = errors.map { "\(percent($0.rate)) of answers \($0.kind)" }
        if resets > 0 { words.append("\(percent(resets)) of requests reset") }
        if drops > 0 { words.append("\(percent(drops)) of answers dropped after commit") }
        if stalls > 0 { words.append("\(percent(stalls)) of answers stalled") }
        if let delay { words.append("answers delayed \(Self.words(for: delay))") }
        switch retryAdvice {
        case .header(let seconds): words.append("Retry-After: \(seconds)")
        case .detail(let seconds): words.append("RetryInfo of \(seconds) s")
        case nil: break
        }
        if let maximumPastLocations { words.append("more than \(maximumPastLocations) past locations rejected") }
        return words + tokens.words
    }
}

/// How often a fault of one kind happens.
package struct FaultRate<Kind: Sendable & Hashable>: Sendable, Hashable {
    package var kind: Kind
    package var rate: Double
}

/// What goes wrong with one request.
package enum Fault: Sendable, Hashable {
    case none
    case error(status: Int)
    case reset
    case drop
    case stall
    /// The network is away.
    case outage

    /// For the record and the page; `nil` when nothing went wrong.
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
    /// An option of the command line.
    package struct Option: Sendable, Hashable {
        /// As `--errors`.
        package let name: String
        /// Stands for the value in a help text.
        package let placeholder: String
        package let help: String
        /// Whether each use orders one fault more.
        package let isRepeatable: Bool
        /// The words that its value may be, where they are few.
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
            Option("--past-limit", "COUNT", "reject updates with more past locations"),
            Option("--outage", "FROM..TO", "nothing answers in these seconds", isRepeatable: true),
        ] + TokenFaultPlan.options

    /// Orders one fault, as `set("--errors", "503:0.3,401:0.05")`.
    package mutating func set(_ option: String, _ text: String) throws(OptionError) {
        let before = self
        let value = FaultOptionValue(option: option, text: text)
        switch option {
        case "--errors":
            errors = try value.rates("STATUS:RATE, as 503:0.3, with a status from 400 to 599") { status in
                Int(status).flatMap { (400...599).contains($0) ? $0 : nil }
            }
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

/// How an ordered error states when to retry.
package enum RetryAdvice: Sendable, Hashable {
    /// A `Retry-After` header.
    case header(seconds: Int)
    /// `google.rpc.RetryInfo` in the body.
    case detail(seconds: Int)
}
