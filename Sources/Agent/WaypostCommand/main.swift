import LinuxPlatform

ProcessStart.prepare()
// Synchronous: the main thread waits for signals while the command runs (docs/architecture.md, "Threads").
let words = Array(CommandLine.arguments.dropFirst())
let (reloads, reloading) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
runService(reload: words.first == "run" ? reloading : nil) {
    await WaypostCommand.run(words, reloads: reloads)?.rawValue
}
