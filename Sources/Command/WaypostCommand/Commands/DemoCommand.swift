import Demo
import LinuxPlatform
import Replay

/// `waypost demo`: runs the demonstration and prints its result.
struct DemoCommand {
    private let log: String?
    private let address: LocalAddress
    private let staysOpen: Bool

    init(_ arguments: Arguments) throws {
        log = arguments.operands.first
        staysOpen = arguments.has("--keep-open")
        address = try arguments.address("--listen", default: "127.0.0.1:0", command: "demo")
    }

    /// Returns `failed` if an update was lost, or arrived out of order.
    func run() async throws -> ExitStatus {
        let directory = FileSystem.temporaryPath("waypost-demo")
        try FileSystem.createDirectory(at: directory)
        defer { FileSystem.removeDirectory(at: directory) }

        let demo = try await Demo(log: log, at: address, in: directory) { Terminal.say($0) }
        var isCorrect = false
        try await demo.run(playing: { await $0.run(showingProgress: Terminal.isInteractive) }) { result in
            try StandardOutput.write(line: result.text)
            isCorrect = result.isCorrect
            if let failure = result.failure { throw failure }
            guard staysOpen else { return }
            Terminal.say("The page stays up at \(demo.page) until you press Control-C.")
            try? await Task.sleep(for: .seconds(86_400 * 365))  // Control-C cancels it, which isn't an error
        }
        if Task.isCancelled, !isCorrect { throw Interruption(demo.replay.reached) }
        return isCorrect ? .done : .failed
    }
}
