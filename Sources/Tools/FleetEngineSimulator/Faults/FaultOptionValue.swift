import ReportedText

/// The text given as the value of a fault option, with functions that parse it.
struct FaultOptionValue {
    /// The name of the option, such as `--errors`.
    let option: String
    let text: String

    /// Returns the value, parsed as a rate from 0 to 1.
    func rate() throws(FaultPlan.OptionError) -> Double { try rate(text) }

    /// Returns the value, parsed as a list `KIND:RATE,...`. `parseKind` parses the text before an entry's colon. `form`
    /// describes an entry in the error message.
    func rates<Kind: Sendable & Hashable>(
        ofForm form: String, parsingKind parseKind: (Substring) -> Kind?
    ) throws(FaultPlan.OptionError) -> [FaultRate<Kind>] {
        var rates: [FaultRate<Kind>] = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard halves.count == 2, let kind = parseKind(halves[0]) else {
                throw error("\"\(entry)\" must have the form \(form)")
            }
            rates.append(FaultRate(kind: kind, rate: try rate(String(halves[1]))))
        }
        return rates
    }

    /// Returns the value, parsed as a whole number in `range`.
    func count(in range: ClosedRange<Int>) throws(FaultPlan.OptionError) -> Int {
        guard let count = Int(text), range.contains(count) else {
            throw error("use a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// Returns the value, parsed as a number of seconds, such as `60`.
    func seconds() throws(FaultPlan.OptionError) -> Double {
        guard let seconds = Self.seconds(text) else {
            throw error(Self.adviceOnUnit(in: text) ?? "use a number of seconds from 0 to 1000000, such as 60")
        }
        return seconds
    }

    /// Returns the value, parsed as a range of seconds, such as `10..30`. `alternative` describes the option's other
    /// values in the error message.
    func range(or alternative: String = "") throws(FaultPlan.OptionError) -> ClosedRange<Double> {
        guard let dots = text.firstRange(of: ".."), let lower = Self.seconds(text[..<dots.lowerBound]),
            let upper = Self.seconds(text[dots.upperBound...])
        else { throw error("write a range of seconds such as 10..30\(alternative)") }
        guard lower <= upper else {
            let halves = (text[..<dots.lowerBound], text[dots.upperBound...])
            throw error("the range ends before it begins; write \(halves.1)..\(halves.0)")
        }
        return lower...upper
    }

    /// Returns the value, parsed as a number of seconds or a range of seconds, such as `0.5` or `0.5..2`.
    func delay() throws(FaultPlan.OptionError) -> ClosedRange<Double> {
        if let seconds = Self.seconds(text) { return seconds...seconds }
        if let advice = Self.adviceOnUnit(in: text) { throw error(advice) }
        return try range()
    }

    func choice<Choice: RawRepresentable & CaseIterable>() throws(FaultPlan.OptionError) -> Choice
    where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            throw error("use one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    /// Returns advice about a value with a unit, such as `500ms` or `2s`: the number of seconds to write instead.
    /// Returns `nil` for other text.
    private static func adviceOnUnit(in text: String) -> String? {
        for (unit, scale) in [("ms", 0.001), ("s", 1)] where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), let seconds = seconds("\(number * scale)") else {
                continue
            }
            return "the value is in seconds, without a unit; write \(seconds)"
        }
        return nil
    }

    private func error(_ advice: String) -> FaultPlan.OptionError {
        FaultPlan.OptionError(description: "\(option) \(text): \(advice)")
    }

    private func rate(_ text: String) throws(FaultPlan.OptionError) -> Double {
        guard let rate = Double(text), (0...1).contains(rate) else {
            throw error("use a rate from 0 to 1")
        }
        return rate
    }

    private static func seconds(_ text: some StringProtocol) -> Double? {
        guard let seconds = Double(String(text)), (0...1_000_000).contains(seconds) else { return nil }
        return seconds
    }
}
