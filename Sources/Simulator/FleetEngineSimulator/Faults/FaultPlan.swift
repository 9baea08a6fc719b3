/// Which faults the simulator commits, how often and when; the default is none.
///
/// Rates are shares of the Fleet Engine requests, from 0 to 1, and exclude each other. Seconds count from the start.
package struct FaultPlan: Sendable, Hashable {
    /// Errors of one status.
    package struct ErrorRate: Sendable, Hashable {
        package var status: Int
        package var rate: Double
    }

    package var errors: [ErrorRate] = []
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
    /// More past locations in one update are refused with 400; the real limit is not published.
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
            if draw < threshold { return .error(status: error.status) }
        }
        for (rate, fault) in [(resets, Fault.reset), (drops, .drop), (stalls, .stall)] {
            threshold += rate
            if draw < threshold { return fault }
        }
        return .none
    }

    /// Whether an ordered outage is on, `seconds` after the start.
    package func hasOutage(at seconds: Double) -> Bool { outages.contains { $0.contains(seconds) } }

    /// One line for each ordered fault, for the page and the log.
    package var words: [String] {
        func percent(_ rate: Double) -> String { "\((rate * 1000).rounded() / 10) %" }
        var words = errors.map { "\(percent($0.rate)) of answers \($0.status)" }
        if resets > 0 { words.append("\(percent(resets)) of requests reset") }
        if drops > 0 { words.append("\(percent(drops)) of answers dropped after commit") }
        if stalls > 0 { words.append("\(percent(stalls)) of answers stalled") }
        if let delay { words.append("answers delayed \(delay.lowerBound) to \(delay.upperBound) s") }
        switch retryAdvice {
        case .header(let seconds): words.append("Retry-After: \(seconds)")
        case .detail(let seconds): words.append("RetryInfo of \(seconds) s")
        case nil: break
        }
        if let maximumPastLocations { words.append("more than \(maximumPastLocations) past locations refused") }
        return words + tokens.words + outages.map { "outage from \($0.lowerBound) to \($0.upperBound) s" }
    }
}
