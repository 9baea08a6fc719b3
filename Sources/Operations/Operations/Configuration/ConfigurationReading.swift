import StrictJSON

/// What is found while one configuration is read: all that is wrong, so that it can be reported at once; the keys that
/// were asked for; what is in force.
final class ConfigurationReading {
    private let file: String
    private let places: JSONPlaces
    /// Values from elsewhere that an earlier reading of the same text found.
    private let known: [ValueReference: ValueReference.Found]
    /// The values from elsewhere that were found.
    private(set) var values: [ValueReference: ValueReference.Found] = [:]
    /// Of this process, for values that come from there.
    private let environment: [String: String]
    private var problems: [(path: String, says: String, isAbsence: Bool)] = []
    private var misnamed: Set<String> = []
    private(set) var keys: [ConfigurationKey] = []
    private(set) var settings: [ConfigurationSetting] = []

    var lines: [String] { problems.map { "\(file): \"\($0.path)\" \($0.says)" } }

    init(
        file: String, places: JSONPlaces = JSONPlaces(), environment: [String: String] = [:],
        known: [ValueReference: ValueReference.Found] = [:]
    ) {
        self.file = file
        self.places = places
        self.environment = environment
        self.known = known
    }

    /// Returns the value of `reference`, which is known or read now.
    func value(of reference: ValueReference) throws(ValueReference.Problem) -> ValueReference.Found {
        let found: ValueReference.Found
        if let value = known[reference] { found = value } else { found = try reference.fetch(environment: environment) }
        values[reference] = found
        return found
    }

    /// Notes that the value at `path` `says` something that it may not.
    ///
    /// `isAbsence`: there is nothing at `path`.
    func add(_ path: String, _ says: String, isAbsence: Bool = false) { problems.append((path, says, isAbsence)) }

    func hasProblem(at path: String) -> Bool { misnamed.contains(path) || problems.contains { $0.path == path } }

    /// What is said to be missing at `path` is there, under a wrong name.
    func excuse(_ path: String) {
        misnamed.insert(path)
        problems.removeAll { $0.isAbsence && $0.path == path }
    }

    func declare(_ key: ConfigurationKey) { keys.append(key) }

    /// Notes what is in force at `path`, from `reference` if it is not in the file itself.
    func settle(
        _ path: String, _ value: JSONValue?, isThere: Bool, _ reference: ValueReference?, isOpenSecret: Bool = false
    ) {
        let source: ConfigurationSetting.Source =
            reference.map { .reference($0) } ?? (isThere ? .line(places.line(of: path) ?? 1) : .fallback)
        settings.append(
            ConfigurationSetting(path: path, value: value, source: source, isOpenSecret: isOpenSecret))
    }
}

/// Everything that is wrong with a configuration, at once.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One each: file, key path or line and column, value and remedy; behind what is no JSON the line, with a mark.
    public let problems: [String]

    package init(problems: [String]) { self.problems = problems }

    /// The problems, a line each.
    public var description: String { problems.joined(separator: "\n") }
}
