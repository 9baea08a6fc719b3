import StrictJSON

/// The results of reading one configuration: its problems, which are all reported at once, the declared keys, and the
/// settings.
final class ConfigurationReading {
    private let file: String
    private let places: JSONPlaces
    /// The referenced values that were found when the same text was read before.
    private let known: [ValueReference: ValueReference.Found]
    /// The referenced values that were found.
    private(set) var values: [ValueReference: ValueReference.Found] = [:]
    private let environment: [String: String]
    private var problems: [(path: String, text: String, isAbsence: Bool)] = []
    /// The paths of keys that exist under a wrong name.
    private var misnamed: Set<String> = []
    private(set) var keys: [ConfigurationKey] = []
    private(set) var settings: [ConfigurationSetting] = []

    var found: [ConfigurationProblem] { problems.map { ConfigurationProblem(in: file, key: $0.path, $0.text) } }

    init(
        file: String, places: JSONPlaces = JSONPlaces(), environment: [String: String] = [:],
        known: [ValueReference: ValueReference.Found] = [:]
    ) {
        self.file = file
        self.places = places
        self.environment = environment
        self.known = known
    }

    /// Returns the value of `reference`, which is read now unless it is already known.
    func value(of reference: ValueReference) throws(ValueReference.Problem) -> ValueReference.Found {
        let found: ValueReference.Found
        if let value = known[reference] { found = value } else { found = try reference.fetch(environment: environment) }
        values[reference] = found
        return found
    }

    /// Adds a problem with the value at `path`, or with its absence if `isAbsence`.
    func add(_ path: String, _ problem: String, isAbsence: Bool = false) {
        problems.append((path, problem, isAbsence))
    }

    func hasProblem(at path: String) -> Bool { misnamed.contains(path) || problems.contains { $0.path == path } }

    /// Removes the problem that `path` is missing, because the key exists under a wrong name.
    func markMisnamed(_ path: String) {
        misnamed.insert(path)
        problems.removeAll { $0.isAbsence && $0.path == path }
    }

    func declare(_ key: ConfigurationKey) { keys.append(key) }

    /// Records the value at `path`, and its reference if the value isn't in the file itself.
    func recordValue(
        _ path: String, _ value: JSONValue?, isPresent: Bool, _ reference: ValueReference?, isOpenSecret: Bool = false
    ) {
        let source: ConfigurationSetting.Source =
            reference.map { .reference($0) } ?? (isPresent ? .line(places.line(of: path) ?? 1) : .fallback)
        settings.append(
            ConfigurationSetting(path: path, value: value, source: source, isOpenSecret: isOpenSecret))
    }
}

/// All problems of a configuration.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems. A file that isn't JSON has only one.
    public let problems: [ConfigurationProblem]

    package init(problems: [ConfigurationProblem]) { self.problems = problems }

    /// The problems, one per line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// A problem of a configuration.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The file; `nil` if the problem concerns what the current configuration refers to.
    public let file: String?
    /// The path of the key, such as `upload.timeoutSeconds`; `nil` if the problem concerns the whole file or several
    /// keys.
    public let key: String?
    /// The value and the remedy.
    public let text: String
    /// The line of the file that isn't JSON, with a caret below the mistake; otherwise empty.
    public let excerpt: String

    package init(in file: String? = nil, key: String? = nil, _ text: String, excerpt: String = "") {
        self.file = file
        self.key = key
        self.text = text
        self.excerpt = excerpt
    }

    /// The place, the value and the remedy, in one line.
    package var sentence: String { (file.map { "\($0): " } ?? "") + (key.map { "\"\($0)\" " } ?? "") + text }

    /// The sentence, followed by the excerpt.
    public var description: String { sentence + excerpt }
}
