/// A command line that cannot be understood.
struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    let problem: String
    /// The command it is about; `nil` when there is none of that name.
    let command: String?

    init(_ problem: String, command: String? = nil) { (self.problem, self.command) = (problem, command) }

    var description: String {
        "\(problem)\nType \"waypost help\(command.map { " " + $0 } ?? "")\" to see how it is used."
    }
}
