import LinuxPlatform

ProcessStart.prepare()
// The command is started synchronously, because the main thread waits for signals while the command runs
// (docs/architecture.md, "Threads").
let words = Array(CommandLine.arguments.dropFirst())
let reloads = ReloadRequests()
runService(reloads: words.first == "run" ? reloads : nil) { await WaypostCommand.run(words, reloads: reloads) }
