import ReportedText
import StrictJSON

/// The state of reading one configuration. It collects the declared keys, the settings, and all problems, which are
/// reported together.
final class ConfigurationReading {
    private let file: String
    private let places: JSONPlaces
    /// The values of references from an earlier reading of the same text.
    private let knownValues: [ValueReference: ValueReference.Found]
    /// The values of the references that have been resolved so far.
    private(set) var values: [ValueReference: ValueReference.Found] = [:]
    private let environment: [String: String]
    private var problems: [(path: String, text: String, isMissing: Bool)] = []
    /// The paths of keys that are present, but under a misspelt name.
    private var misspeltPaths: Set<String> = []
    private(set) var keys: [ConfigurationKey] = []
    private(set) var settings: [ConfigurationSetting] = []

    var allProblems: [ConfigurationProblem] { problems.map { ConfigurationProblem(in: file, key: $0.path, $0.text) } }

    init(
        file: String, places: JSONPlaces = JSONPlaces(), environment: [String: String] = [:],
        knownValues: [ValueReference: ValueReference.Found] = [:]
    ) {
        self.file = file
        self.places = places
        self.environment = environment
        self.knownValues = knownValues
    }

    /// Returns the value of `reference`: the known value, or, if there is none, the value read now.
    func value(of reference: ValueReference) throws(ValueReference.Problem) -> ValueReference.Found {
        let found: ValueReference.Found
        if let value = knownValues[reference] {
            found = value
        } else {
            found = try reference.fetch(environment: environment)
        }
        values[reference] = found
        return found
    }

    /// Adds a problem with the key at `path`. `isMissing` says whether the problem is that the key is missing.
    func addProblem(_ text: String, at path: String, isMissing: Bool = false) {
        problems.append((path, text, isMissing))
    }

    func hasProblem(at path: String) -> Bool { misspeltPaths.contains(path) || problems.contains { $0.path == path } }

    /// Records that the key at `path` is present under a misspelt name. A problem that the key is missing is removed.
    func markMisspelt(at path: String) {
        misspeltPaths.insert(path)
        problems.removeAll { $0.isMissing && $0.path == path }
    }

    func declare(_ key: ConfigurationKey) { keys.append(key) }

    /// Records the value of the key at `path`. If the value comes from a reference, records the reference as its
    /// source.
    func recordValue(
        _ value: JSONValue?, at path: String, isPresent: Bool, from reference: ValueReference?,
        isOpenSecret: Bool = false
    ) {
        let source: ConfigurationSetting.Source =
            reference.map { .reference($0) } ?? (isPresent ? .line(places.line(of: path) ?? 1) : .fallback)
        settings.append(
            ConfigurationSetting(path: path, value: value, source: source, isOpenSecret: isOpenSecret))
    }
}

/// An error that contains all problems with a configuration.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems. If the file isn't JSON, there is only one.
    public let problems: [ConfigurationProblem]

    package init(problems: [ConfigurationProblem]) { self.problems = problems }

    /// The problems, one per line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// A problem with a configuration.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The configuration file; `nil` if the problem is with something that the current configuration refers to.
    public let file: String?
    /// The path of the key, such as `upload.timeoutSeconds`; `nil` if the problem concerns the whole file or several
    /// keys.
    public let key: String?
    /// A description of the problem, with the remedy. It continues a sentence that begins with the key.
    public let text: String
    /// The line with the syntax error and a caret below the error, if the file isn't JSON; otherwise empty.
    public let excerpt: String

    package init(in file: String? = nil, key: String? = nil, _ text: String, excerpt: String = "") {
        self.file = file
        self.key = key
        self.text = ReportedText.withoutTokensAndKeys(text)
        self.excerpt = excerpt
    }

    /// The file, the key, the problem and the remedy, in one line.
    package var sentence: String { (file.map { "\($0): " } ?? "") + (key.map { "\"\($0)\" " } ?? "") + text }

    /// The sentence, followed by the excerpt if there is one.
    public var description: String { sentence + excerpt }
}
