/// A rule for source files. It is a pure function of the file, so that tests can show that each rule detects a breach.
struct Rule: Sendable {
    let name: String
    /// A function that returns the violations in a file; empty if there are none.
    let violations: @Sendable (SourceFile) -> [String]
}

extension Rule {
    /// Returns the rule that a module imports only the modules in its line of the table.
    static func imports(_ modules: [Module]) -> Rule {
        Rule(name: "imports") { file in
            guard let module = modules.first(where: { $0.directory == file.moduleDirectory }) else {
                return ["\(file.path): \(file.moduleDirectory) is not in the table of modules"]
            }
            return file.imports.filter { !module.mayImport.contains($0) }
                .map { "\(file.path): \(module.name) may not import \($0)" }
        }
    }

    /// Each file has one concept. A file beyond this length has at least two.
    static let length = Rule(name: "length") { file in
        let limit = 500
        let count = file.lines.count - (file.lines.last?.isEmpty == true ? 1 : 0)
        return count > limit
            ? ["\(file.path): \(count) lines; at most \(limit), split it where a second noun begins"] : []
    }

    /// The formatter wraps code, but leaves comments unchanged.
    static let width = Rule(name: "width") { file in
        let limit = 120
        return zip(1..., file.lines).filter { $1.count > limit && $1.drop { $0 == " " }.hasPrefix("//") }
            .map { number, line in "\(file.path):\(number): a comment of \(line.count) columns; at most \(limit)" }
    }

    /// Standard output is for machines, and belongs to the commands.
    static let printing = Rule(name: "print") { file in
        guard file.moduleDirectory != "Sources/Command/WaypostCommand" else { return [] }
        return lines(of: file, containing: /(?:^|[^\w.`])(?:debugPrint|print|dump)\(/)
            .map { "\(file.path): only WaypostCommand prints: \($0)" }
    }

    /// Files where the compiler can't check data-race safety, but a person has.
    private static let mayBeUnchecked: Set<String> = [
        "Sources/Adapters/LinuxPlatform/Threads/Locked.swift",
        "Sources/Adapters/LinuxPlatform/Threads/ThreadExecutor.swift",
        // The bytes are written only when a secret is created and when it is overwritten at the end.
        "Sources/Core/VehicleAuthorization/SecretText.swift",
        // Several threads use libcurl's handles, under libcurl's own rules.
        "Sources/Adapters/CurlTransport/CurlMulti.swift",
    ]

    static let uncheckedSendable = Rule(name: "unchecked") { file in
        guard !mayBeUnchecked.contains(file.path) else { return [] }
        return lines(of: file, containing: /@unchecked\s+Sendable|nonisolated\(unsafe\)/)
            .map { "\(file.path): data-race safety is unchecked: \($0)" }
    }

    /// Dispatch and detached tasks are outside structured concurrency: nothing cancels them, and nothing waits for
    /// them.
    static let structuredConcurrency = Rule(name: "structured concurrency") { file in
        // Swift's word boundary isn't at a full stop between letters.
        lines(of: file, containing: /(?:^|\W)(?:Dispatch(?:Queue|Group|Semaphore|Source)|Task\.detached)(?!\w)/)
            .map { "\(file.path): not structured: \($0)" }
    }

    /// A path may lead to another user's file. One initializer knows the checks that must precede a write.
    static let writing = Rule(name: "writing") { file in
        guard file.path != "Sources/Adapters/LinuxPlatform/Files/OwnedDescriptor.swift" else { return [] }
        let opening = /\(opening:.*O_(?:WRONLY|RDWR|CREAT|APPEND)|O_TRUNC/
        let foundation = /(?:^|\W)fopen\(|createFile\(atPath|Data\(.*\.write\(to/
        return (lines(of: file, containing: opening) + lines(of: file, containing: foundation))
            .map { "\(file.path): opened for writing past OwnedDescriptor(writing:): \($0)" }
    }

    /// Only a command replaces the image of its process.
    static let executing = Rule(name: "executing") { file in
        let isAllowed = ["Sources/Command/", "Sources/Adapters/LinuxPlatform/Service/"].contains(
            where: file.path.hasPrefix)
        return isAllowed
            ? [] : lines(of: file, containing: /\bexecv|NextImage\(/).map { "\(file.path): executes an image: \($0)" }
    }

    /// A token's lifetime, a hold and a heartbeat continue while the machine sleeps.
    static let clock = Rule(name: "clock") { file in
        lines(of: file, containing: /SuspendingClock/).map { "\(file.path): stands still during suspend: \($0)" }
    }

    /// Files that decode bytes into text that is parsed, and never shown directly.
    private static let mayDecode: Set<String> = [
        "Sources/Adapters/BackendAuthorization/FoundToken.swift",
        "Sources/Adapters/BackendAuthorization/SecretFile.swift",
        // A path to look up; messages show it as a `ReportedText`.
        "Sources/Adapters/BackendAuthorization/TokenProgram.swift",
        "Sources/Adapters/CurlTransport/CurlTransfer.swift", "Sources/Adapters/HTTPService/HTTPRequestParser.swift",
        "Sources/Adapters/HTTPService/ServedRequest.swift", "Sources/Adapters/LinuxPlatform/Processes/Descendant.swift",
        "Sources/Adapters/LinuxPlatform/Processes/HoldingProcess.swift",
        "Sources/Adapters/LinuxPlatform/Files/DirectoryWatch.swift",
        "Sources/Adapters/LinuxPlatform/Files/FileLock.swift", "Sources/Adapters/LinuxPlatform/Files/FileSystem.swift",
        "Sources/Adapters/LinuxPlatform/Sockets/ListeningSocket.swift",
        "Sources/Adapters/SQLiteOutbox/Store/SQLiteConnection.swift",
        "Sources/Core/GNSS/Framing/TagBlock.swift", "Sources/Core/GNSS/Explanation/SentenceReading.swift",
        "Sources/Core/HTTPMessages/HTTPURL.swift", "Sources/Core/StrictJSON/JSONParser.swift",
        "Sources/Core/StrictJSON/JSONFault.swift", "Sources/Core/StrictJSON/JSONWriter.swift",
        "Sources/Operations/Operations/Configuration/BrokenLine.swift",
        "Sources/Operations/Operations/Configuration/ValueReference.swift",
        // The configuration for the next image of the program, which is never shown.
        "Sources/Agent/Waypost/Wiring/Handover.swift",
        "Sources/Core/VehicleAuthorization/SecretText.swift",
        // Paths and error names from the C library.
        "Sources/Adapters/LinuxPlatform/Files/DirectoryTrust.swift",
        "Sources/Adapters/LinuxPlatform/Service/ProcessStart.swift",
        "Sources/Adapters/LinuxPlatform/Files/SystemError.swift",
        "Sources/Adapters/LinuxPlatform/Threads/ThreadExecutor.swift",
        "Sources/Adapters/GNSSReceiver/Network/NetworkAddress.swift",
        // Digits and letters that the code itself wrote, and the name of the status code in an answer.
        "Sources/Core/TimeAndRandomness/UTCTime.swift", "Sources/Core/VehicleAuthorization/Base64.swift",
        "Sources/Operations/Operations/Observation/RunningService.swift",
        // The unit's text, which belongs to root.
        "Sources/Operations/Operations/Checks/SandboxedCheck.swift",
        "Sources/Command/WaypostCommand/Commands/StatusCommand.swift",
    ]

    /// Files that write text to a terminal or log directly: Waypost's own text, or foreign text that is already a
    /// `ReportedText`.
    private static let mayFormatText: Set<String> = [
        "Sources/Adapters/LinuxPlatform/Terminal/StandardOutput.swift",
        "Sources/Operations/Operations/Log/LogWriter.swift",
        "Sources/Command/WaypostCommand/Live/LiveScreen.swift",
        "Sources/Command/WaypostCommand/Output/Terminal.swift",
        // The digits of a number, and no other character.
        "Sources/Core/StrictJSON/JSONParser.swift",
    ]

    /// Only `ReportedText` formats foreign text: no other code makes text from bytes, cuts or cleans it, redacts
    /// tokens, or puts a header, a JSON value or a foreign error into a sentence.
    static let foreignText = Rule(name: "foreign text") { file in
        guard file.moduleDirectory != "Sources/Core/ReportedText" else { return [] }
        var found = lines(of: file, containing: /ReportedText\(string(?:Literal|Interpolation):/)
        let others = SourceFile(
            path: file.path, text: file.code.filter { !$0.contains("ReportedText(") }.joined(separator: "\n"))
        if !mayDecode.contains(file.path) {
            found += lines(of: others, containing: /String\((?:decoding|cString|bytes|validating|validatingCString):/)
        }
        if !mayFormatText.contains(file.path) {
            found += lines(of: others, containing: /\.printable/)
            found += lines(of: others, containing: /\\\([^"]*\.(?:prefix|suffix)\((?!while)[^{]*\)\)/)
        }
        found += lines(of: others, containing: /\\\([^)]*(?:\.(?:stringValue|localizedDescription|userInfo)|headers\[)/)
        found += lines(
            of: others, containing: /(?:contains|replacing|hasPrefix|starts)\((?:with: )?"(?:eyJ|Bearer|Basic)/)
        return found.map { "\(file.path): foreign text goes through ReportedText: \($0)" }
    }

    /// The only module that words the problems of a running vehicle.
    private static let catalog = "Sources/Core/Conditions"

    /// Files whose messages may state the remedy after the problem: configuration errors, usage errors, and errors of
    /// tools that no vehicle needs.
    private static let mayAdvise = [
        "Sources/Command/", "Sources/Tools/", "Sources/Operations/Operations/Configuration/",
        "Sources/Core/StrictJSON/",
        // Explanations of a line of a log.
        "Sources/Core/GNSS/Framing/SentenceFrame.swift",
        // Values of the configuration, of the unit and of the environment.
        "Sources/Core/HTTPMessages/HTTPProxy.swift", "Sources/Core/HTTPMessages/HTTPURL.swift",
        "Sources/Core/FleetEngine/VehicleName.swift", "Sources/Adapters/LinuxPlatform/Sockets/SocketAddress.swift",
        "Sources/Adapters/LinuxPlatform/Service/ServiceCredential.swift",
        "Sources/Adapters/LinuxPlatform/Service/ProcessStart.swift",
        // The reason why a run doesn't start, or a command can't ask the service.
        "Sources/Agent/Waypost/Wiring/ConfigurationReload.swift",
        "Sources/Operations/Operations/Observation/RunningService.swift",
        "Sources/Operations/Operations/Bundle/BundleCollector.swift",
        // A developer's provider that violates its contract.
        "Sources/Core/DriverAuthorization/ProviderCall.swift",
        // Answers to HTTP clients and readers of trips.
        "Sources/Adapters/HTTPService/HTTPRequestParser.swift", "Sources/Operations/Operations/Page/StatusRoutes.swift",
        "Sources/Operations/Operations/Following/Follower.swift",
        "Sources/Operations/Operations/Following/ReadOutcome.swift",
    ]

    /// Only the catalog words the problems of a running vehicle. Everywhere else, faults are facts without a
    /// description, conditions consist of facts, no sentence contains a remedy, and no code logs a warning or an
    /// error of its own.
    static let conditions = Rule(name: "conditions") { file in
        guard !file.path.hasPrefix(catalog) else { return [] }
        var found = lines(of: file, containing: /\b(?:Condition\(\s*\.[a-z]|Wording\()/)
        if file.path.hasPrefix("Sources/Adapters/CurlTransport/") {
            found += lines(
                of: file, containing: /(?:HTTPTransportError\(|^)\s*\.\w+,\s*"(?:\\\([\w.]+\): )?[^\\"]/)
        }
        if !mayAdvise.contains(where: file.path.hasPrefix) {
            let remedy = /"[^"]*; (?:change|check|choose|correct|free|give|let|make|name|open|run|see|set|use|write)\b/
            found += lines(of: file, containing: remedy)
            found += lines(
                of: file, containing: /(?:Fault|Rejection|Warning|Remark|Finding)\b[^{]*CustomStringConvertible/)
        }
        // The warnings about a configuration are worded where the configuration is read.
        found += lines(of: file, containing: /(?:\.write\(\s*|^\s*)\.(?:warning|error),(?! "\\\(warning\)"\))/)
        let observers = ["Log/EventLog", "Observation/AgentMonitor", "Observation/StatusReport", "Page/"]
        if observers.contains(where: { file.path.hasPrefix("Sources/Operations/Operations/\($0)") }) {
            found += lines(of: file, containing: /"[^"]*\b(?:refused|rejects|unreachable|unavailable)\b/)
        }
        return found.map { "\(file.path): failures are worded in \(catalog): \($0)" }
    }

    private static func lines(of file: SourceFile, containing pattern: Regex<Substring>) -> [String] {
        file.code.filter { $0.contains(pattern) }
    }
}
