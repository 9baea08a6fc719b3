/// Everything that is wrong with a configuration, at once.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line each: file, key path or line, value and remedy.
    public let problems: [String]

    package init(problems: [String]) { self.problems = problems }

    /// The problems, a line each.
    public var description: String { problems.joined(separator: "\n") }
}
