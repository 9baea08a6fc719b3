/// A command as the user sees it: what it is called, takes and does.
struct CommandSpec: Sendable {
    /// The arguments that are no options.
    enum Operands: Sendable {
        case none
        /// At least one, as `LOG...`.
        case oneOrMore(String)
        /// Any number, as `[LOG...]`.
        case any(String)
        /// At most one, as `[LOG]`.
        case optional(String)
        /// Exactly one of these words.
        case oneOf([String])
    }

    let name: String
    let summary: String
    /// What else there is to know, in whole sentences.
    let details: String
    let operands: Operands
    let options: [OptionSpec]

    /// The line behind `usage:`.
    var usage: String {
        var words = ["waypost", name]
        switch operands {
        case .none: break
        case .oneOrMore(let operand): words.append("\(operand)...")
        case .any(let operand): words.append("[\(operand)...]")
        case .optional(let operand): words.append("[\(operand)]")
        case .oneOf(let choices): words.append(choices.joined(separator: "|"))
        }
        let isLong = options.count > 6
        for option in options where option.isRequired || !isLong {
            let word = option.valueName.map { "\(option.name) \($0)" } ?? option.name
            words.append(option.isRequired ? word : "[\(word)]")
        }
        if isLong { words.append("[OPTIONS]") }
        return words.joined(separator: " ")
    }
}
