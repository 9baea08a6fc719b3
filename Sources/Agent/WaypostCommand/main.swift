import LinuxPlatform

ProcessStart.prepare()
// Synchronous: the main thread waits for signals while the command runs (docs/architecture.md, "Threads").
let words = Array(CommandLine.arguments.dropFirst())
runService { await WaypostCommand.run(words)?.rawValue }
