package import LinuxPlatform

/// The result of one benchmark: a value, its floor, and a reference value from the same run. It is printed as one JSON
/// object per line, with the same keys for every benchmark.
///
/// ```
/// {"case":"agent.start","value":41.2,"unit":"ms","floor":150,"reference":"start and end of /bin/true","limit":1.1,
///  "ratio":37.5,"met":true,"details":{"p95":44.8}}
/// ```
///
/// `floor`, `reference`, `limit`, `ratio` and `met` are `null` if they don't apply. A case that can't be measured on
/// this machine has no value, and the reason in `skipped`.
package struct BenchmarkCase: Sendable {
    /// The worst acceptable value.
    package enum Floor: Sendable {
        case atMost(Double)
        case atLeast(Double)
    }

    private let name: String
    private let value: Double?
    private let unit: String
    private let skipped: String?
    private var floor: Floor?
    private var reference: (description: String, value: Double)?
    private var details: [(name: String, value: Double)] = []

    /// Creates a measured case, such as `agent.start` in `ms`.
    package init(_ name: String, _ value: Double, _ unit: String) {
        self.name = name
        self.value = value
        self.unit = unit
        skipped = nil
    }

    /// Creates a case that can't be measured here, with the reason.
    package init(_ name: String, unit: String, skipped: String) {
        self.name = name
        value = nil
        self.unit = unit
        self.skipped = skipped
    }

    /// Returns this case with the worst acceptable value.
    package consuming func keeping(_ floor: Floor) -> Self {
        self.floor = floor
        return self
    }

    /// Returns this case with a reference and its description. `limit` is its value in the same unit; `nil` if it
    /// couldn't be measured.
    package consuming func against(_ description: String, limit: Double?) -> Self {
        if let limit { reference = (description, limit) }
        return self
    }

    /// Returns this case with another figure of the same measurement.
    package consuming func addingFigure(_ name: String, value: Double) -> Self {
        details.append((name, value))
        return self
    }

    package func print() throws(SystemError) { try StandardOutput.write(line: line) }

    private var line: String {
        var members = [
            "\"case\":\(Self.quoted(name))", "\"value\":\(Self.number(value))", "\"unit\":\(Self.quoted(unit))",
            "\"floor\":\(Self.number(floor?.value))",
            "\"reference\":\(reference.map { Self.quoted($0.description) } ?? "null")",
            "\"limit\":\(Self.number(reference?.value))", "\"ratio\":\(Self.number(ratio))",
            "\"met\":\(isMet.map { "\($0)" } ?? "null")",
        ]
        if !details.isEmpty {
            let figures = details.map { "\(Self.quoted($0.name)):\(Self.number($0.value))" }
            members.append("\"details\":{\(figures.joined(separator: ","))}")
        }
        if let skipped { members.append("\"skipped\":\(Self.quoted(skipped))") }
        return "{\(members.joined(separator: ","))}"
    }

    private var ratio: Double? {
        guard let value, let limit = reference?.value, limit != 0 else { return nil }
        return value / limit
    }

    private var isMet: Bool? {
        guard let value else { return nil }
        switch floor {
        case .atMost(let worst): return value <= worst
        case .atLeast(let worst): return value >= worst
        case nil: return nil
        }
    }

    /// Returns the number with four significant digits; whole numbers without decimals.
    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        var scale = 1.0
        while value != 0, abs(value) * scale < 1000, scale < 1e6 { scale *= 10 }
        let rounded = (value * scale).rounded() / scale
        return rounded == rounded.rounded() ? String(Int64(rounded)) : String(rounded)
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20: " "
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

extension BenchmarkCase.Floor {
    fileprivate var value: Double {
        switch self {
        case .atMost(let value), .atLeast(let value): value
        }
    }
}
