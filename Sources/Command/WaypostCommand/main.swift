import LinuxPlatform

ProcessStart.prepare()
// The top-level code isn't asynchronous, because the main thread waits for signals while the command runs
// (docs/architecture.md, "Threads").
let words = Array(CommandLine.arguments.dropFirst())
let reloads = ReloadRequests()
runService(reloads: words.first == "run" ? reloads : nil) { await WaypostCommand.run(words, reloads: reloads) }
