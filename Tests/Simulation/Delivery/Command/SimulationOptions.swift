struct SimulationOptions {
    enum Command: String, CaseIterable { case campaign, planted, world }

    struct Problem: Error, CustomStringConvertible { let description: String }

    var command: Command
    var seed: UInt64 = 1
    var hours: Double?
    var excludedFaults: Set<FaultKind> = []
    var bug: PlantedBug?
    var worldHours = Campaign.defaultWorldHours
    var threads = 2
    var printsEvents = false

    init(_ arguments: ArraySlice<String>) throws(Problem) {
        guard let command = arguments.first.flatMap(Command.init) else {
            throw Problem(description: "give one of \(Command.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.command = command
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            if option == "--trace" {
                printsEvents = true
                continue
            }
            guard let value = rest.popFirst() else { throw Problem(description: "\(option) needs a value") }
            try apply(option, value: value)
        }
    }

    private mutating func apply(_ option: String, value: String) throws(Problem) {
        switch option {
        case "--seed":
            guard let seed = UInt64(value) else { throw Problem(description: "\(value) isn't a valid seed") }
            self.seed = seed
        case "--hours": hours = try Self.hours(value)
        case "--world-hours": worldHours = try Self.hours(value)
        case "--threads":
            guard let threads = Int(value), threads > 0 else {
                throw Problem(description: "\(value) isn't a number of threads")
            }
            self.threads = threads
        case "--without":
            if value == "all" { excludedFaults = Set(FaultKind.allCases) }
            for name in value.split(separator: ",") where value != "all" {
                guard let kind = FaultKind.allCases.first(where: { $0.name == name }) else {
                    throw Problem(
                        description: "unknown fault \(name); known faults: " + Self.list(FaultKind.allCases.map(\.name))
                    )
                }
                excludedFaults.insert(kind)
            }
        case "--planted":
            if value == "all" { return }
            guard let bug = PlantedBug(rawValue: value) else {
                throw Problem(
                    description: "unknown bug \(value); known bugs: " + Self.list(PlantedBug.allCases.map(\.rawValue))
                )
            }
            self.bug = bug
        default: throw Problem(description: "unknown option \(option)")
        }
    }

    private static func hours(_ text: String) throws(Problem) -> Double {
        guard let hours = Double(text), hours > 0 else { throw Problem(description: "\(text) isn't a number of hours") }
        return hours
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
