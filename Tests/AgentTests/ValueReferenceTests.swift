import FleetEngine
import FoundationEssentials
import Glibc
import LinuxPlatform
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations

/// Values of a configuration that come from files, variables and credentials.
@Suite struct ValueReferences {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(
        replacing find: String, with replacement: String, environment: [String: String] = [:]
    ) throws(ConfigurationError) -> Configuration {
        let text = Configurations.smallest.replacing(
            find, with: replacement.replacing("DIRECTORY", with: directory.url.path))
        return try Configuration(json: Array(text.utf8), file: "config.json", environment: environment)
    }

    /// Returns the only error, without the file's name.
    private func problem(
        replacing find: String, with replacement: String, environment: [String: String] = [:]
    ) -> String {
        do {
            _ = try read(replacing: find, with: replacement, environment: environment)
            return "none"
        } catch {
            return error.problems.map { $0.description.replacing("config.json: ", with: "") }.joined(separator: "\n")
        }
    }

    @Test(arguments: ["van-7", "van-7\n", "van-7\r\n", "\u{FEFF}van-7\n"])
    func readOneLineOfAFile(content: String) throws {
        try directory.write(content.utf8, to: "id")
        let configuration = try read(replacing: "\"v\"", with: #"{"file": "DIRECTORY/id"}"#)
        #expect(configuration.vehicle.vehicleID == "van-7")
        let setting = try #require(configuration.settings.first { $0.path == "vehicle.vehicleId" })
        #expect(setting.value == .string("van-7") && setting.source == .reference(.file(directory.path("id"))))
    }

    @Test func readAVariableOrACredential() throws {
        try directory.write("van-8\n".utf8, to: "id", mode: 0o400)
        let environment = ["VAN": "van-9", "CREDENTIALS_DIRECTORY": directory.url.path]
        let variable = try read(replacing: "\"v\"", with: #"{"environment": "VAN"}"#, environment: environment)
        #expect(variable.vehicle.vehicleID == "van-9")
        let credential = try read(replacing: "\"v\"", with: #"{"credential": "id"}"#, environment: environment)
        #expect(credential.vehicle.vehicleID == "van-8")
        #expect(credential.settings.first { $0.path == "vehicle.vehicleId" }?.value == .string("…"))
    }

    @Test func hideAnAddressFromACredential() throws {
        try directory.write("https://backend.test/hooks/Xk29dLmPq8s".utf8, to: "url")
        let environment = ["CREDENTIALS_DIRECTORY": directory.url.path]
        for (reference, provider) in [
            (#"{"credential": "url"}"#, "the URL in the credential url"),
            (#"{"file": "DIRECTORY/url"}"#, "https://backend.test"),
        ] {
            let configuration = try read(
                replacing: #"{"type": "file", "path": "/run/token"}"#, with: #"{"type": "http", "url": \#(reference)}"#,
                environment: environment)
            #expect(configuration.authorization.providerDescription == provider)
        }
    }

    @Test func mayReplaceAnyString() throws {
        for (name, text) in [
            ("type", "command"), ("program", "/usr/bin/sign"), ("argument", "--key=hush"), ("level", "debug"),
            ("listen", "unix:/run/waypost/status"),
        ] {
            try directory.write(text.utf8, to: name)
        }
        func file(_ name: String) -> String { #"{"file": "DIRECTORY/\#(name)"}"# }
        let more = #", "log": {"level": \#(file("level"))}, "status": {"listen": \#(file("listen"))}}"#
        let configuration = try read(
            replacing: #"{"type": "file", "path": "/run/token"}}"#,
            with:
                #"{"type": \#(file("type")), "command": [\#(file("program")), "{vehicleId}", \#(file("argument"))]}\#(more)"#
        )
        guard case .command(let arguments, _, _, _) = configuration.authorization else {
            Issue.record("not a command")
            return
        }
        #expect(arguments == ["/usr/bin/sign", "{vehicleId}", "--key=hush"])
        #expect(configuration.log.level == .debug)
        #expect(configuration.statusAddress == .unix(path: "/run/waypost/status"))
        let command = configuration.settings.filter { $0.path.hasPrefix("authorization.command") }
        #expect(
            command.map(\.path) == ["authorization.command[0]", "authorization.command[2]", "authorization.command"])
        #expect(!"\(configuration.settings)".contains("hush"))
        // The warning is given because an argument may be a secret, and every user can read these files.
        #expect(
            configuration.warnings.contains { $0.description.hasPrefix("authorization.command[2] comes from a file") })
        let rejected = configuration.warnings.filter { !$0.mayBeIntended }
        #expect(rejected.isEmpty)
    }

    /// Unusable contents of the file, and the errors.
    @Test(arguments: [
        ("", "is empty; write the value to it"), ("\n", "is empty; write the value to it"),
        ("\u{FEFF}", "is empty; write the value to it"),
        ("van-7\nhush\n", "contains several lines; leave only the value in it"),
        ("van-7\n\n", "contains several lines; leave only the value in it"),
        ("hush\0", "contains a control character; remove it"),
        ("hush\u{1B}[2J", "contains a control character; remove it"),
        (String(repeating: "hush", count: 17_000), "is larger than 64 KiB; use the file that contains the value"),
    ])
    func rejectTextThatIsNotOneLine(content: String, message: String) throws {
        let path = try directory.write(content.utf8, to: "id")
        let problem = problem(replacing: "\"v\"", with: #"{"file": "DIRECTORY/id"}"#)
        #expect(problem == "\"vehicle.vehicleId\" comes from the file \(path), which \(message)")
    }

    @Test func requireUTF8() throws {
        try directory.write([0x76, 0xE4], to: "id")
        #expect(
            problem(replacing: "\"v\"", with: #"{"file": "DIRECTORY/id"}"#).hasSuffix(
                "id, which is not UTF-8 text; save it as UTF-8"))
    }

    /// Reading never blocks.
    @Test func areReadFromRegularFilesOnly() throws {
        try #require(unsafe mkfifo(directory.path("fifo"), 0o600) == 0)
        for (place, message) in [
            ("DIRECTORY/none", "doesn't exist; write the value to it, or correct the path"),
            ("DIRECTORY/fifo/none", "doesn't exist; write the value to it, or correct the path"),
            ("DIRECTORY", "is a directory, not a file; use the file that contains the value"),
            ("DIRECTORY/fifo", "is a FIFO, not a file; use the file that contains the value"),
            ("/dev/zero", "is a device, not a file; use the file that contains the value"),
        ] {
            #expect(
                problem(replacing: "\"v\"", with: #"{"file": "\#(place)"}"#).hasSuffix(", which \(message)"), "\(place)"
            )
        }
    }

    @Test func nameARemedyIfTheUserCannotReadTheFile() throws {
        let path = try directory.write("van-7".utf8, to: "id", mode: 0o000)
        guard geteuid() != 0 else { return }
        #expect(
            problem(replacing: "\"v\"", with: #"{"file": "DIRECTORY/id"}"#)
                == "\"vehicle.vehicleId\" comes from the file \(path), which this user cannot read; make it "
                + "readable by the service's group: chgrp waypost \(path) and chmod g+r \(path)")
    }

    @Test(arguments: [
        (#"{"environment": "VAN"}"#, "environment variable VAN, which is not set; set it (for the service, with "),
        (#"{"environment": "EMPTY"}"#, "environment variable EMPTY, which is not set; set it (for the service, with "),
        (
            #"{"credential": "id"}"#,
            "credential id, which is missing: systemd hasn't passed it; list the credential in the unit (LoadCredential or "
        ),
        (#"{"credential": "../id"}"#, "credential ../id, which isn't a valid credential name; write the name "),
        (#"{"credential": ".."}"#, "credential .., which isn't a valid credential name; write the name "),
    ])
    func nameAMissingVariableOrCredential(reference: String, message: String) {
        let environment = ["EMPTY": "", "CREDENTIALS_DIRECTORY": directory.url.path]
        let problem = problem(replacing: "\"v\"", with: reference, environment: environment)
        #expect(problem.hasPrefix("\"vehicle.vehicleId\" comes from the \(message)"), "\(problem)")
    }

    @Test func haveNoCredentialsOutsideTheService() {
        #expect(
            problem(replacing: "\"v\"", with: #"{"credential": "id"}"#)
                == "\"vehicle.vehicleId\" comes from the credential id, which is missing: systemd has "
                + "passed no credentials to this process; list the credential in the unit (LoadCredential), or outside the "
                + "service set CREDENTIALS_DIRECTORY=/run/credentials/waypost.service")
    }

    /// A replacement, and its error. The file `key` contains `hush`.
    @Test(arguments: [
        (
            "\"v\"", #"{"file": ""}"#,
            #""vehicle.vehicleId" is an object, but not a valid reference; use a string, {"file": PATH}"#
        ),
        (
            "\"v\"", #"{"fil": "x"}"#,
            #""vehicle.vehicleId" is an object, but not a valid reference; use a string, {"file": PATH}"#
        ),
        (
            "\"v\"", #"{"file": "DIRECTORY/key", "environment": "K"}"#,
            #""vehicle.vehicleId" is an object, but not a valid reference; use a string, {"file": PATH}, {"environment": NAME} "#
                + #"or, from systemd, {"credential": NAME}"#
        ),
        (
            "\"stdin\"", #"{"file": "DIRECTORY/key"}"#,
            #""receiver.type" comes from the file DIRECTORY/key, whose value is not allowed; use "serial", "file""#
        ),
        (
            "\"v\"", #"{"file": "DIRECTORY/slash"}"#,
            #""vehicle.vehicleId" comes from the file DIRECTORY/slash, whose value contains "/"; leave out / : ? , #"#
        ),
        (
            #""type": "file", "path": "/run/token""#, #""type": "http", "url": {"file": "DIRECTORY/key"}"#,
            #""authorization.url" comes from the file DIRECTORY/key, whose value is not an absolute URL; begin it with https://, or with http:// for a loopback host"#
        ),
        (
            "}}", #"}, "reporting": {"intervalSeconds": {"file": "DIRECTORY/key"}}}"#,
            #""reporting.intervalSeconds" is an object; use a number of seconds from 5 to 60; only a string can be replaced by a reference"#
        ),
        (
            "}}", #"}, "outbox": {"maximumAgeDays": {"environment": "K"}}}"#,
            #""outbox.maximumAgeDays" is an object; use a whole number from 1 to 3650, or "unlimited"; only a string "#
        ),
        (
            #""stdin""#, #""stdin", "acceptMissingChecksum": {"credential": "K"}"#,
            #""receiver.acceptMissingChecksum" is an object; use true or false, without quotes; only a string can "#
        ),
        (
            #""type": "file", "path": "/run/token""#,
            #""type": "command", "command": ["a", {"file": "DIRECTORY/none"}]"#,
            #""authorization.command[1]" comes from the file DIRECTORY/none, which doesn't exist; "#
        ),
        (
            #""type": "file", "path": "/run/token""#,
            #""type": "command", "command": ["a", {"fil": "DIRECTORY/none"}]"#,
            #""authorization.command[1]" is an object, but not a valid reference; "#
        ),
        (
            #""type": "file", "path": "/run/token""#, #""type": "command", "command": ["a", 7]"#,
            #""authorization.command" is an array; use a list of strings, such as "#
        ),
        (
            "}}", #"}, "log": {"level": {"file": "DIRECTORY/key"}}}"#,
            #""log.level" comes from the file DIRECTORY/key, whose value is not allowed; use "error""#
        ),
    ])
    func nameTheKeyTheSourceAndTheRemedy(find: String, replacement: String, message: String) throws {
        try directory.write("hush".utf8, to: "key")
        try directory.write("hu/sh".utf8, to: "slash")
        let problem = problem(replacing: find, with: replacement)
        #expect(problem.hasPrefix(message.replacing("DIRECTORY", with: directory.url.path)), "\(problem)")
        #expect(!problem.contains("hush"))
    }

    /// The outbox would replace such a file.
    @Test func neverReadAFileThatWaypostWrites() throws {
        try directory.write("van-7".utf8, to: "o.sqlite")
        let problem = problem(
            replacing: #""v"}"#, with: #"{"file": "DIRECTORY/o.sqlite"}}, "outbox": {"path": "DIRECTORY/o.sqlite"}"#)
        #expect(
            problem.hasSuffix(
                "and the outbox's files would replace the file named by \"vehicle.vehicleId\"; use another "
                    + "path"))
    }
}
