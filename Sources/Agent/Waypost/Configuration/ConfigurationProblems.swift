/// Collects what is wrong while a configuration is read, so that all of it can be reported at once.
final class ConfigurationProblems {
    private let file: String
    private(set) var lines: [String] = []

    init(file: String) { self.file = file }

    /// Notes that the value at `path` `says` something that it may not.
    func add(_ path: String, _ says: String) { lines.append("\(file): \"\(path)\" \(says)") }
}
