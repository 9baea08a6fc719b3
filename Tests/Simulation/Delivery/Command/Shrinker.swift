/// A search for the shortest scenario with the fewest kinds of fault that still breaks the same law.
struct Shrinker {
    private let law: Law
    private(set) var report: WorldReport

    init?(_ report: WorldReport) {
        guard let violation = report.violation else { return nil }
        (law, self.report) = (violation.law, report)
    }

    mutating func run() throws {
        try shorten()
        for kind in report.faultKinds {
            var smaller = report.scenario
            smaller.excludedFaults.insert(kind)
            try keepIfFailing(smaller)
        }
        try shorten()
        // Kinds that this world doesn't have need not be excluded.
        let presentKinds = Set(try WorldReport(of: Scenario(seed: report.scenario.seed, hours: 0.001)).faultKinds)
        var simplified = report.scenario
        simplified.excludedFaults.formIntersection(presentKinds)
        try keepIfFailing(simplified)
    }

    private mutating func shorten() throws {
        guard let violation = report.violation else { return }
        let needed = (violation.time.inSeconds / 36).rounded(.up) / 100
        for hours in [needed / 4, needed / 2, needed, needed + 0.02] where hours < report.scenario.hours {
            var shorter = report.scenario
            shorter.hours = hours
            if try keepIfFailing(shorter) { return }
        }
    }

    /// Keeps `scenario` if it breaks the same law. Returns whether `scenario` was kept.
    @discardableResult
    private mutating func keepIfFailing(_ scenario: Scenario) throws -> Bool {
        let smaller = try WorldReport(of: scenario)
        guard smaller.violation?.law == law else { return false }
        report = smaller
        return true
    }
}
