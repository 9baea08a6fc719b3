import LinuxPlatform

/// `waypost help`.
struct HelpCommand {
    private let topic: CommandSpec?

    init(_ arguments: Arguments) throws {
        topic = try arguments.operands.first.map(CommandCatalog.command(named:))
    }

    func run() throws -> ExitStatus {
        try StandardOutput.write(line: topic.map(HelpText.page(for:)) ?? HelpText.overview)
        return .done
    }
}
