import Testing
import WaypostTestSupport

private let rules: [Rule] = [
    .imports(modules), .length, .width, .printing, .uncheckedSendable, .structuredConcurrency, .clock, .writing,
    .executing, .foreignText, .conditions,
]

/// Tests of every file below `Sources/` against every rule, and of every rule against a file that breaks it.
@Suite(.enabled(if: !Sanitizer.isActive, "only reads the sources"))
struct Sources {
    @Test(arguments: rules.map(\.name))
    func followEachRule(ruleNamed name: String) throws {
        let rule = try #require(rules.first { $0.name == name })
        let files = try Checkout.sources(below: "Sources")
        #expect(files.count > 50, "too few sources found")
        let violations = files.flatMap(rule.violations)
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("imports", "Sources/Core/GNSS/Fix.swift", "import Glibc"),
        ("imports", "Sources/Core/GNSS/Fix.swift", "package import Reporting"),
        ("imports", "Sources/Core/FleetEngine/A.swift", "@preconcurrency public import Foundation"),
        ("imports", "Sources/Core/Reporting/A.swift", "  import struct FoundationEssentials.URL"),
        ("imports", "Sources/Adapters/HTTPService/A.swift", "import CLinux"),
        ("imports", "Sources/Adapters/GNSSReceiver/A.swift", "import Dispatch"),
        ("imports", "Sources/Agent/Waypost/A.swift", "@testable import FleetEngineSimulator"),
        ("imports", "Sources/Adapters/Bluetooth/A.swift", ""),
        ("length", "Sources/Core/GNSS/Fix.swift", String(repeating: "\n", count: 501)),
        ("width", "Sources/Core/GNSS/A.swift", "    /// " + String(repeating: "a", count: 113)),
        ("print", "Sources/Agent/Waypost/A.swift", "    print(\"here\")"),
        ("print", "Sources/Core/GNSS/A.swift", "{ dump($0) }"),
        ("unchecked", "Sources/Core/GNSS/A.swift", "final class A: @unchecked Sendable {"),
        ("unchecked", "Sources/Agent/Waypost/A.swift", "nonisolated(unsafe) var count = 0"),
        ("clock", "Sources/Agent/Waypost/A.swift", "let clock = SuspendingClock()"),
        ("writing", "Sources/Agent/Waypost/A.swift", "try OwnedDescriptor(opening: path, O_CREAT | O_RDWR)"),
        ("writing", "Sources/Agent/Waypost/A.swift", "try OwnedDescriptor(writing: path, O_WRONLY | O_TRUNC)"),
        ("writing", "Sources/Agent/Waypost/A.swift", "try Data(bytes).write(to: file)"),
        ("executing", "Sources/Agent/Waypost/A.swift", "return .execute(NextImage(message: message))"),
        (
            "executing", "Sources/Adapters/LinuxPlatform/Processes/A.swift",
            "_ = unsafe execve(path, words, environment)"
        ),
        ("foreign text", "Sources/Agent/Waypost/A.swift", "let words = String(decoding: body, as: UTF8.self)"),
        ("foreign text", "Sources/Adapters/CurlTransport/A.swift", "unsafe String(cString: errorText)"),
        ("foreign text", "Sources/Adapters/SQLiteOutbox/A.swift", "throw E(\"damaged: \\(answer.prefix(200))\")"),
        ("foreign text", "Sources/Core/FleetEngine/A.swift", "return \"\\(error[\"message\"]?.stringValue ?? \"\")\""),
        ("foreign text", "Sources/Core/FleetEngine/A.swift", "\"moved to \\(response.headers[\"Location\"] ?? \"\")\""),
        ("foreign text", "Sources/Core/DriverAuthorization/A.swift", "\"failed: \\(error.localizedDescription)\""),
        ("foreign text", "Sources/Agent/Waypost/A.swift", "log.write(.error, text.printable)"),
        ("foreign text", "Sources/Agent/Waypost/A.swift", "text.contains(\"eyJ\") ? \"…\" : text"),
        ("foreign text", "Sources/Agent/Waypost/A.swift", "ReportedText(stringLiteral: words)"),
        ("conditions", "Sources/Adapters/CurlTransport/A.swift", "HTTPTransportError(.timedOut, \"no answer\")"),
        ("conditions", "Sources/Adapters/CurlTransport/A.swift", "    .timedOut, \"\\(origin): no answer\")"),
        ("conditions", "Sources/Operations/Operations/Log/EventLog.swift", "log.write(.warning, text)"),
        ("conditions", "Sources/Agent/Waypost/A.swift", "log.write(.warning, \"\\(error); only retries\")"),
        ("conditions", "Sources/Operations/Operations/Records/A.swift", "    .error,"),
        ("conditions", "Sources/Operations/Operations/Page/A.swift", "let title = \"Fleet Engine is unreachable\""),
        ("conditions", "Sources/Agent/Waypost/Progress/A.swift", "raise(Condition(.diskFull, \"no room\"))"),
        ("conditions", "Sources/Adapters/GNSSReceiver/A.swift", "return \"\\(name) is empty; check the program\""),
        ("conditions", "Sources/Adapters/SQLiteOutbox/A.swift", "return Wording(\"is a directory\", \"move it\")"),
        ("conditions", "Sources/Core/Reporting/A.swift", "package enum LineFault: Sendable, CustomStringConvertible {"),
        ("structured concurrency", "Sources/Agent/Waypost/A.swift", "Task.detached { }"),
        ("structured concurrency", "Sources/Agent/Waypost/A.swift", "DispatchQueue.main.async { }"),
    ])
    func areCaughtWhenTheyBreakARule(rule name: String, path: String, text: String) throws {
        let rule = try #require(rules.first { $0.name == name })
        #expect(rule.violations(SourceFile(path: path, text: text)).count == 1)
    }

    @Test(arguments: [
        ("imports", "Sources/Core/FleetEngine/A.swift", "package import HTTPMessages\n// import Glibc"),
        ("imports", "Sources/Core/DriverAuthorization/A.swift", "public import Foundation"),
        ("length", "Sources/Core/GNSS/Fix.swift", String(repeating: "\n", count: 500)),
        ("width", "Sources/Core/GNSS/A.swift", "    /// " + String(repeating: "±", count: 112)),
        ("width", "Sources/Core/GNSS/A.swift", "let page = " + String(repeating: "a", count: 120)),
        ("print", "Sources/Command/WaypostCommand/A.swift", "print(line)"),
        ("print", "Sources/Core/GNSS/A.swift", "let fingerprint = page.print(of: line)"),
        ("writing", "Sources/Agent/Waypost/A.swift", "try OwnedDescriptor(opening: path, O_RDONLY)"),
        ("writing", "Sources/Agent/Waypost/A.swift", "try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT)"),
        ("executing", "Sources/Command/WaypostCommand/A.swift", "return .execute(NextImage(message: message))"),
        ("unchecked", "Sources/Adapters/LinuxPlatform/Threads/Locked.swift", "class Locked: @unchecked Sendable"),
        ("conditions", "Sources/Adapters/CurlTransport/A.swift", "HTTPTransportError(.timedOut, \"\\(cause)\")"),
        ("conditions", "Sources/Agent/Waypost/A.swift", "log.write(.warning, \"\\(warning)\")"),
        ("conditions", "Sources/Core/Conditions/A.swift", "Condition(.diskFull, \"no room; check the disk\")"),
        ("conditions", "Sources/Adapters/GNSSReceiver/A.swift", "throw FixSourceError(log: name, .directory)"),
    ])
    func areIgnoredIfTheRuleDoesNotApply(rule name: String, path: String, text: String) throws {
        let rule = try #require(rules.first { $0.name == name })
        #expect(rule.violations(SourceFile(path: path, text: text)).isEmpty)
    }
}
