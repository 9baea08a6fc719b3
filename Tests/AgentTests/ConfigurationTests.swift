import BackendAuthorization
import FleetEngine
import FoundationEssentials
import GNSSReceiver
import Glibc
import HTTPMessages
import LinuxPlatform
import Reporting
import SQLiteOutbox
import StrictJSON
import Testing
import VehicleAuthorization
import Operations
import WaypostTestSupport

@Suite struct Configurations {
    static let smallest = """
        {"vehicle": {"providerId": "p", "vehicleId": "v"},
         "receiver": {"type": "stdin"},
         "authorization": {"type": "file", "path": "/run/token"}}
        """

    static func read(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration(json: Array(text.utf8), file: "config.json")
    }

    static func problems(in text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch { return error.problems.map(\.description) }
    }

    @Test func theExampleIsCompleteAndValid() throws {
        let url = Fixtures.checkout.appending(path: "config.example.json")
        let configuration = try Configuration(file: url.path)
        #expect(configuration.vehicle.description == "providers/my-cloud-project/vehicles/van-7")
        #expect(configuration.receiver.source == .serial(device: "/dev/ttyUSB0", baudRate: 9600))
        #expect(!configuration.receiver.acceptsMissingChecksum)
        // Every value in the example is the default: removing the optional sections changes nothing.
        let example = try JSONValue(parsing: Array(try Data(contentsOf: url)))
        let optional = ["reporting", "upload", "outbox", "status", "log"]
        #expect(optional.allSatisfy { example[$0] != nil })
        let least = try Self.read(Self.smallest)
        #expect(configuration.reporting == least.reporting)
        #expect(configuration.upload == least.upload)
        #expect(configuration.outbox.path == least.outbox.path)
        #expect(configuration.outbox.maximumBytes == least.outbox.maximumBytes)
        #expect(configuration.outbox.maximumAge == least.outbox.maximumAge)
        #expect(configuration.outbox.durability == least.outbox.durability)
        #expect(configuration.statusAddress == least.statusAddress)
        #expect(configuration.log == least.log)
        #expect(configuration.stateOnStop == least.stateOnStop)
    }

    @Test(arguments: [
        ("", ReportingPolicy.Kind.accuracy(liveToleranceMeters: 50, maximumInterval: .seconds(30))),
        (
            #", "liveToleranceMeters": 100, "maximumIntervalSeconds": 60"#,
            .accuracy(liveToleranceMeters: 100, maximumInterval: .seconds(60))
        ),
    ])
    func thePolicyAccuracyIsReadWithItsLimits(keys: String, policy: ReportingPolicy.Kind) throws {
        let text = Self.smallest.dropLast() + #", "reporting": {"policy": "accuracy"\#(keys)}}"#
        let configuration = try Self.read(String(text))
        #expect(configuration.reporting.policy == policy)
        // Keys that this policy doesn't use have no setting.
        let keys = Set(configuration.settings.map(\.path).filter { $0.hasPrefix("reporting.") })
        #expect(keys.contains("reporting.liveToleranceMeters") && !keys.contains("reporting.intervalSeconds"))
    }

    @Test(arguments: [
        ("/o.sqlite", "/o.sqlite", "", "status.listen"), ("/o.sqlite", "/o.sqlite-wal", "", "status.listen"),
        ("/o.sqlite", "//./o.sqlite.reserve", "", "status.listen"), ("/run/token", "/s", "", "outbox.path"),
        ("/o.sqlite", "/run/token", "", "status.listen"), ("/x/config.json", "/s", "", "outbox.path"),
        ("/o.sqlite", "/x/config.json", "", "status.listen"),
        ("/ca", "/s", #", "upload": {"caFile": "/ca"}"#, "outbox.path"),
        ("/o", "/s", #", "consumerAuthorization": {"type": "file", "path": "/o.lock"}"#, "outbox.path"),
        ("/o", "/s", #", "consumerAuthorization": {"type": "command", "command": ["/s"]}"#, "status.listen"),
    ])
    func aPathWithTwoUsesIsRejected(outbox: String, socket: String, otherSections: String, key: String) throws {
        let rest = #", "outbox": {"path": "\#(outbox)"}, "status": {"listen": "unix:\#(socket)"}\#(otherSections)}"#
        let text = Self.smallest.dropLast() + rest
        let error = #expect(throws: ConfigurationError.self) {
            try Configuration(json: Array(text.utf8), file: "/x/config.json")
        }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.file == "/x/config.json" && error?.problems.first?.key == key, "\(error as Any)")
    }

    @Test func pathsInOneDirectoryAreDistinguished() throws {
        let rest = #", "outbox": {"path": "/run/token.sqlite"}, "status": {"listen": "unix:/run/token.socket"}}"#
        _ = try Self.read(Self.smallest.dropLast() + rest)
    }

    @Test(arguments: [
        ("\"file\", \"path\": \"/l\"", ReceiverConfiguration.Source.file(path: "/l", follows: false), false),
        ("\"file\", \"path\": \"/l\", \"follow\": true", .file(path: "/l", follows: true), false),
        ("\"stdin\", \"acceptMissingChecksum\": true", .standardInput, true),
    ])
    func theOptionsOfAReceiverAreRead(text: String, source: ReceiverConfiguration.Source, accepts: Bool) throws {
        let configuration = try Self.read(Self.smallest.replacing("\"stdin\"", with: text))
        #expect(configuration.receiver.source == source)
        #expect(configuration.receiver.acceptsMissingChecksum == accepts)
        #expect(configuration.readsRecording == (source == .file(path: "/l", follows: false)))
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try Self.read("\u{FEFF}" + Self.smallest).vehicle == Self.read(Self.smallest).vehicle)
    }

    @Test func theTimeoutOfATokenEndpointIsRead() throws {
        let http = #"{"type": "http", "url": "https://b.internal/", "timeoutSeconds": 60}"#
        let text = Self.smallest.replacing(#"{"type": "file", "path": "/run/token"}"#, with: http)
        guard case .http(let settings, _) = try Self.read(text).authorization else {
            Issue.record("the type is http")
            return
        }
        #expect(settings.limits.total == .seconds(60))
    }

    @Test func theDefaultsMatchTheDocuments() throws {
        let configuration = try Self.read(Self.smallest)
        #expect(configuration.reporting.policy == .interval(.seconds(10)))
        #expect(configuration.reporting.heartbeat == .seconds(60))
        #expect(configuration.upload.timeout == .seconds(15))
        #expect(configuration.upload.maximumPastLocations == 50)
        #expect(configuration.upload.backlogUpdatesPerSecond == 100)
        #expect(configuration.upload.retry == RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60)))
        #expect(configuration.outbox.path == "/var/lib/waypost/outbox.sqlite")
        #expect(configuration.outbox.maximumBytes == 64_000_000)
        #expect(configuration.outbox.maximumAge == nil)
        #expect(configuration.outbox.durability == .full)
        #expect(configuration.statusAddress.description == "127.0.0.1:9464")
    }

    @Test func theMaximumAgeAndDurabilityOfTheOutboxAreRead() throws {
        let text = Self.smallest.replacing(
            "}}", with: "}, \"outbox\": {\"maximumAgeDays\": 30, \"durability\": \"economy\"}}")
        let settings = try Self.read(text).outbox
        #expect(settings.maximumAge == .seconds(30 * 86_400))
        #expect(settings.durability == .economy)
    }

    @Test(arguments: [("\"automatic\"", BaudRate.automatic), ("115200", 115_200)])
    func theBaudRateIsANumberOrAutomatic(text: String, baudRate: BaudRate) throws {
        let serial = "\"serial\", \"device\": \"/dev/x\", \"baudRate\": \(text)"
        let configuration = try Self.read(Self.smallest.replacing("\"stdin\"", with: serial))
        #expect(configuration.receiver.source == .serial(device: "/dev/x", baudRate: baudRate))
    }

    /// Network receivers use this machine unless a host is given.
    @Test(arguments: [
        (#""type": "gpsd""#, ReceiverConfiguration.Source.gpsd(host: "127.0.0.1", port: 2947, device: nil)),
        (
            #""type": "gpsd", "host": "gateway", "port": 3000, "device": "/dev/ttyS1""#,
            .gpsd(host: "gateway", port: 3000, device: "/dev/ttyS1")
        ),
        (#""type": "udp""#, .udp(host: "127.0.0.1", port: 10110)),
        (#""type": "udp", "host": "0.0.0.0""#, .udp(host: "0.0.0.0", port: 10110)),
        (#""type": "tcp", "host": "plotter""#, .tcp(host: "plotter", port: 10110)),
    ])
    func everyTypeOfReceiverIsRead(members: String, source: ReceiverConfiguration.Source) throws {
        let text = Self.smallest.replacing(#""type": "stdin""#, with: members)
        #expect(try Self.read(text).receiver.source == source)
    }

    /// A replacement in the smallest configuration, and the start of its error.
    static let brokenValues: [(find: String, replacement: String, problem: String)] = [
        ("\"vehicle\"", "\"vehicel\"", "\"vehicel\" is not a key of Waypost; did you mean \"vehicle\"?"),
        (
            "\"vehicleId\"", "\"vehicleID\"",
            "\"vehicle.vehicleID\" is not a key of Waypost; did you mean \"vehicleId\"?"
        ),
        ("\"v\"", "7", "\"vehicle.vehicleId\" is 7; use a string in quotes"),
        (
            "\"v\"", "\"a/b\"",
            "\"vehicle.vehicleId\" is \"a/b\", which contains \"/\"; leave out / : ? , # and control characters"
        ),
        ("\"v\"", "\"\"", "\"vehicle.vehicleId\" is empty; use a string in quotes"),
        (
            "\"stdin\"", "\"seral\"",
            "\"receiver.type\" is \"seral\"; use \"serial\", \"file\", \"stdin\", \"tcp\", \"udp\" or \"gpsd\"; did you mean \"serial\"?"
        ),
        (
            "\"stdin\"", "\"serial\", \"device\": \"/dev/x\", \"baudRate\": 12",
            "\"receiver.baudRate\" is 12; use 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600 or \"automatic\""
        ),
        ("\"stdin\"", "\"stdin\", \"device\": \"/dev/x\"", "\"receiver.device\" is not a key of \"type\": \"stdin\""),
        (
            "\"stdin\"", "\"stdin\", \"acceptMissingChecksum\": \"yes\"",
            "\"receiver.acceptMissingChecksum\" is \"yes\"; use true or false, without quotes"
        ),
        (
            "\"stdin\"", "\"udp\", \"host\": \"239.255.0.1\"",
            "\"receiver.host\" is \"239.255.0.1\", a multicast group, which Waypost does not join; write 0.0.0.0, and have "
                + "the sender use this machine's address"
        ),
        (
            "\"/run/token\"", "\"/run/{vehicleId\"",
            "\"authorization.path\" has an unmatched brace; write {vehicleId}"
        ),
        ("\"stdin\"", "\"stdin\", \"follow\": true", "\"receiver.follow\" is not a key of \"type\": \"stdin\""),
        (
            "\"stdin\"", "\"tcp\", \"host\": \"h\", \"port\": 70000",
            "\"receiver.port\" is 70000; use a whole number from 1 to 65535"
        ),
        ("\"path\"", "\"file\"", "\"authorization.path\" is missing; write a string in quotes"),
        ("\"file\"", "\"http\"", "\"authorization.url\" is missing; write your token endpoint's address, in quotes"),
        (
            "{\"type\": \"file\"", "{\"type\": \"http\", \"url\": \"http://backend/\"",
            "\"authorization.url\" is \"http://backend/\", which would send to backend unencrypted; use https (http is for loopback hosts only)"
        ),
        (
            "{\"type\": \"file\"", "{\"type\": \"service_account\"",
            "\"authorization.type\" is a service account, whose key must not be in a vehicle; have your backend sign the "
                + "tokens, and write \"http\" with its \"url\""
        ),
        (
            "{\"type\": \"file\"", "{\"type\": \"http\", \"url\": \"https://user:hush@backend/?key=hush\"",
            "\"authorization.url\" is \"https://…@backend/?…\", which contains a user name or password; "
                + "send credentials in a header that is read from a file"
        ),
        (
            "\"file\"", "\"file\", \"tokenShape\": \"guid\"",
            "\"authorization.tokenShape\" is \"guid\"; use \"guide\", \"onDemandSample\" or \"scheduledSample\"; "
                + "did you mean \"guide\"?"
        ),
        (
            "\"file\"",
            "\"http\", \"url\": \"https://b/\", \"headers\": {\"X\": {\"file\": \"k\", \"scheme\": \"hush\"}}",
            "\"authorization.headers.X.scheme\" isn't a scheme; use \"verbatim\", \"bearer\" or \"basic\""
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"headers\": {\"X Key\": \"hush\"}",
            "\"authorization.headers.X Key\" isn't a valid header name; use letters, digits and hyphens"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"headers\": {\"Content-Length\": \"3\"}",
            "\"authorization.headers.Content-Length\" is set by Waypost itself; remove it"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b\u{E4}ckend.example/\"",
            "\"authorization.url\" is \"https://b\u{E4}ckend.example/\", which has the invalid host \"b\u{E4}ckend.example\"; write it in "
                + "ASCII, without spaces or % (an internationalised name begins with xn--)"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"headers\": {\"X\": \"hush\\n\"}",
            "\"authorization.headers.X\" has a line break or another control character; remove it"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"ftp://backend/\"",
            "\"authorization.url\" is \"ftp://backend/\", which has the unsupported scheme \"ftp\"; use https, or http for a loopback host"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"headers\": \"Bearer hush\"",
            "\"authorization.headers\" is a string; use an object in braces, such as {\"NAME\": \"value\"}"
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"method\": \"POST\", \"body\": {\"van\": \"{vehicleId}\"}",
            #""authorization.body" is an object; write its JSON as one string, such as "{ \"vehicle\": \"{vehicleId}\" }", or use "#
        ),
        (
            "\"file\"", "\"http\", \"url\": \"https://b/\", \"body\": \"grant=x\"",
            "\"authorization.body\" is not sent with the method GET; set \"method\" to \"POST\" or \"PUT\""
        ),
        (
            "\"file\"", "\"command\", \"command\": [\"/bin/true\"], \"environment\": {\"K\": [\"hush\"]}",
            "\"authorization.environment.K\" is an array, but neither a string nor a valid reference; use a string, {\"file\": PATH}, "
                + "{\"environment\": NAME}"
        ),
        (
            "}}", "}, \"upload\": {\"endpoint\": \"https://user:hush@fleet/\"}}",
            "\"upload.endpoint\" is \"https://…@fleet/\", which contains a user name or password"
        ),
        (
            "}}", "}, \"reporting\": {\"intervalSeconds\": 3}}",
            "\"reporting.intervalSeconds\" is 3; use a number of seconds from 5 to 60"
        ),
        (
            "}}", "}, \"reporting\": {\"intervalSeconds\": \"10\"}}",
            "\"reporting.intervalSeconds\" is \"10\"; use a number of seconds from 5 to 60; a number has no quotes"
        ),
        (
            "}}", "}, \"reporting\": {\"intervalSeconds\": 30, \"heartbeatSeconds\": 20}}",
            "\"reporting.heartbeatSeconds\" is 20, shorter than \"intervalSeconds\", which is 30; make it at least as long"
        ),
        (
            "}}", "}, \"reporting\": {\"policy\": \"accuracy\", \"intervalSeconds\": 10}}",
            "\"reporting.intervalSeconds\" is 10; it has no effect with the policy \"accuracy\": remove it, or choose "
                + "the other policy"
        ),
        (
            "}}", "}, \"reporting\": {\"liveToleranceMeters\": 50}}",
            "\"reporting.liveToleranceMeters\" is 50; it has no effect with the policy \"interval\": remove it, or "
                + "choose the other policy"
        ),
        (
            "}}", "}, \"reporting\": {\"policy\": \"acuracy\", \"liveToleranceMeters\": 3, \"heartbeatSeconds\": 5}}",
            "\"reporting.policy\" is \"acuracy\"; use \"interval\" or \"accuracy\"; did you mean \"accuracy\"?"
        ),
        (
            "\"vehicleId\"", "\"vehicle\"", "\"vehicle.vehicle\" is not a key of Waypost; did you mean \"vehicleId\"?"
        ),
        (
            "}}", "}, \"reporting\": {\"privateModeFile\": \"/var/lib/vehicle/private\"}}",
            "\"reporting.privateModeFile\" is not a key of Waypost; did you mean \"vehicle.privateModeFile\"?"
        ),
        (
            "\"v\"", "\"v\", \"privateWhen\": \"/var/lib/vehicle/private\"",
            "\"vehicle.privateWhen\" has a new name; write \"privateModeFile\""
        ),
        (
            "}}", "}, \"reporting\": {\"liveMeters\": 50}}",
            "\"reporting.liveMeters\" has a new name; write \"liveToleranceMeters\""
        ),
        (
            "}}", "}, \"reporting\": {\"longestIntervalSeconds\": 30}}",
            "\"reporting.longestIntervalSeconds\" has a new name; write \"maximumIntervalSeconds\""
        ),
        (
            "}}", "}, \"reporting\": {\"trackMeters\": 5}}",
            "\"reporting.trackMeters\" has a new name; write \"trackToleranceMeters\""
        ),
        (
            "\"v\"", "\"v\", \"privateZones\": []",
            "\"vehicle.privateZones\" is not a key of Waypost; did you mean \"reporting.privateZones\"?"
        ),
        (
            "}}", "}, \"reporting\": {\"policy\": \"accuracy\", \"liveToleranceMeters\": 5}}",
            "\"reporting.liveToleranceMeters\" is 5; use a whole number from 10 to 1000"
        ),
        (
            "}}",
            "}, \"reporting\": {\"policy\": \"accuracy\", \"maximumIntervalSeconds\": 40, \"heartbeatSeconds\": 30}}",
            "\"reporting.heartbeatSeconds\" is 30, shorter than \"maximumIntervalSeconds\", which is 40; make it at least as long"
        ),
        (
            "}}", "}, \"upload\": {\"endpoint\": \"fleetengine.googleapis.com\"}}",
            "\"upload.endpoint\" is \"fleetengine.googleapis.com\", which is not an absolute URL; begin it with https://"
        ),
        (
            "}}", "}, \"upload\": {\"maximumPastLocations\": 1.5}}",
            "\"upload.maximumPastLocations\" is 1.5; use a whole number from 1 to 500"
        ),
        (
            "}}", "}, \"upload\": {\"retry\": {\"initialDelaySeconds\": 9, \"maximumDelaySeconds\": 2}}}",
            "\"upload.retry.maximumDelaySeconds\" is 2, shorter than \"initialDelaySeconds\", which is 9; make it at least as long"
        ),
        ("}}", "}, \"outbox\": []}", "\"outbox\" is an array; use an object in braces"),
        (
            "}}", "}, \"outbox\": {\"maximumAgeDays\": 0}}",
            "\"outbox.maximumAgeDays\" is 0; use a whole number from 1 to 3650, or \"unlimited\""
        ),
        (
            "}}", "}, \"outbox\": {\"maximumAgeDays\": \"never\"}}",
            "\"outbox.maximumAgeDays\" is \"never\"; use a whole number from 1 to 3650, or \"unlimited\""
        ),
        (
            "}}", "}, \"outbox\": {\"durability\": \"econmy\"}}",
            "\"outbox.durability\" is \"econmy\"; use \"full\" or \"economy\"; did you mean \"economy\"?"
        ),
        (
            "}}", "}, \"outbox\": {\"maximumAge\": 3}}",
            "\"outbox.maximumAge\" is not a key of Waypost; did you mean \"maximumAgeDays\"?"
        ),
        (
            "}}", "}, \"status\": {\"listen\": 9464}}",
            "\"status.listen\" is 9464; use a string in quotes, such as \"127.0.0.1:9464\""
        ),
        (
            "}}", "}, \"outbox\": {\"maximumMegabytes\": \"64M\"}}",
            "\"outbox.maximumMegabytes\" is \"64M\"; use a whole number from 1 to 4096; a number has no quotes and no unit"
        ),
        (
            "\"file\", \"path\": \"/run/token\"",
            "\"http\", \"url\": \"https://b.internal/\", \"headers\": {\"Authorization\": \"Bearer ${hush}\"}",
            "\"authorization.headers.Authorization\" contains a variable in ${}, which is not expanded; write "
                + "{\"environment\": NAME, \"scheme\": \"bearer\"}"
        ),
        (
            "\"file\", \"path\": \"/run/token\"",
            "\"http\", \"url\": \"https://b.internal/\", \"headers\": {\"authorization\": \"van:hush\"}",
            "\"authorization.headers.authorization\" has an unencoded user and password; write {\"file\": PATH, "
                + "\"scheme\": \"basic\"}"
        ),
        (
            "}}", "}, \"log\": {\"level\": true}}",
            "\"log.level\" is true; use \"error\", \"warning\", \"info\" or \"debug\""
        ),
    ]

    /// The hash is the same for vehicles that share a configuration file, and doesn't depend on secrets.
    @Test func theHashIncludesNoSecrets() throws {
        func hash(_ authorization: String, reporting: String = "{}", vehicle: String = #"{"environment": "ID"}"#) throws
            -> String
        {
            try Configuration(
                json: Array(
                    #"""
                    {"vehicle": {"providerId": "p", "vehicleId": \#(vehicle)}, "receiver": {"type": "stdin"},
                     "authorization": \#(authorization), "reporting": \#(reporting)}
                    """#.utf8), file: "config.json", environment: ["ID": "van-\(authorization.utf8.count % 7)"]
            ).hash
        }
        let http = #"{"type": "http", "url": "https://b.internal/?k=KEY", "headers": {"X-Key": "KEY"}}"#
        let one = try hash(http)
        #expect(one.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(try hash(http.replacing("KEY", with: "another")) == one)
        #expect(try hash(http, reporting: #"{"privateZones": []}"#) == one)
        #expect(try hash(http, reporting: #"{"intervalSeconds": 7}"#) != one)
        #expect(try hash(http, vehicle: #""van-8""#) != one)
    }

    @Test(arguments: brokenValues)
    func errorsNameKeyValueAndRemedy(find: String, replacement: String, problem: String) {
        let text = Self.smallest.replacing(find, with: replacement, maxReplacements: 1)
        #expect(text != Self.smallest)
        let problems = Self.problems(in: text)
        #expect(problems.contains { $0.hasPrefix("config.json: \(problem)") }, "\(problems)")
        let hasSecret = problems.contains { $0.contains("hush") }
        #expect(!hasSecret, "a secret can be read")
    }

    @Test(arguments: [
        (#""type": "file", "path": "/run/{vehicle}""#, "path", "vehicle"),
        (#""type": "http", "url": "https://backend/{taskId}/{vehicleId}""#, "url", "taskId"),
        (#""type": "http", "url": "https://backend/{tripId}""#, "url", "tripId"),
    ])
    func anUnknownPlaceholderIsNamed(authorization: String, key: String, placeholder: String) {
        let text = Self.smallest.replacing(#""type": "file", "path": "/run/token""#, with: authorization)
        #expect(
            Self.problems(in: text) == [
                "config.json: \"authorization.\(key)\" contains the unknown placeholder {\(placeholder)}; "
                    + "use {vehicleId} or {providerId}"
            ])
    }

    @Test func consumersHaveTheirOwnProvider() throws {
        #expect(try Self.read(Self.smallest).consumerAuthorization == nil)
        func configuration(consumerTokenFile path: String) -> String {
            Self.smallest.replacing(
                "}}", with: "}, \"consumerAuthorization\": {\"type\": \"file\", \"path\": \"\(path)\"}}")
        }
        guard
            case .file(let path, _) = try Self.read(configuration(consumerTokenFile: "/run/{tripId}"))
                .consumerAuthorization
        else {
            Issue.record("the configuration isn't read")
            return
        }
        #expect(path == "/run/{tripId}")
        #expect(
            Self.problems(in: configuration(consumerTokenFile: "/run/{vehicleId}")) == [
                "config.json: \"consumerAuthorization.path\" contains the unknown placeholder {vehicleId}; use {tripId} or {providerId}"
            ])
    }

    @Test func errorsOfTheConsumerProviderNameItsSection() throws {
        let text = Self.smallest.replacing(
            "}}",
            with: #"}, "consumerAuthorization": {"type": "http", "url": "https://b.example.com/{tripId}","#
                + #" "caFile": "/nonexistent/ca.pem"}}"#)
        let lines = OfflineCheck.lines(try Self.read(text)).filter { $0.name == "consumerAuthorization" }
        #expect(
            lines.contains { $0.verdict == .fail && $0.text.hasPrefix("consumerAuthorization.caFile ") }, "\(lines)")
    }

    @Test func providersAreNotifiedWhenTheNetworkReturns() async throws {
        let provider = ScriptedAuthorization { _, _ in AuthorizationToken(value: "t", lifetime: nil) }
        let configuration = try Self.read(Self.smallest)
        await configuration.makeTokenCache(for: provider, clock: ManualClock()) { _ in }.networkReturned()
        #expect(provider.networkReturns == 1)
    }

    @Test func aStatusAddressOutsideThisMachineIsRejected() {
        let problems = Self.problems(
            in: Self.smallest.replacing("}}", with: "}, \"status\": {\"listen\": \"0.0.0.0:80\"}}"))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("\"status.listen\"") == true)
        #expect(problems.first?.contains("127.0.0.1") == true)
    }

    /// A replacement in the smallest configuration, and all its problems.
    @Test(arguments: [
        ("\"v\"", "null", ["\"vehicle.vehicleId\" is null; use a string in quotes (the vehicle's id in Fleet Engine)"]),
        (
            "\"vehicleId\"", "\"vehicleID\"",
            ["\"vehicle.vehicleID\" is not a key of Waypost; did you mean \"vehicleId\"?"]
        ),
        (
            "\"stdin\"", "null",
            [
                "\"receiver.type\" is null; use \"serial\", \"file\", \"stdin\", \"tcp\", \"udp\" or \"gpsd\" (where positions come from)"
            ]
        ),
        (
            "\"stdin\"", "\"serial\", \"device\": 7",
            ["\"receiver.device\" is 7; use a string in quotes (the serial port, or a symbolic link to it)"]
        ),
        (
            "{\"type\": \"stdin\"}", "null",
            [
                "\"receiver\" is null; use an object in braces, such as {\"type\": \"serial\", \"device\": \"/dev/ttyUSB0\"}"
            ]
        ),
        // Errors that follow from a rejected value are not reported.
        (
            "}}", "}, \"reporting\": {\"intervalSeconds\": 90, \"heartbeatSeconds\": 5}}",
            ["\"reporting.intervalSeconds\" is 90; use a number of seconds from 5 to 60"]
        ),
        (
            "}}", "}, \"reporting\": {\"intervalSeconds\": 30, \"heartbeatSeconds\": 2}}",
            ["\"reporting.heartbeatSeconds\" is 2; use a number of seconds from 5 to 60"]
        ),
        (
            "\"file\", \"path\": \"/run/token\"",
            "\"http\", \"url\": \"https://b/\", \"method\": \"FETCH\", \"body\": \"x\"",
            ["\"authorization.method\" is \"FETCH\"; use \"GET\", \"POST\" or \"PUT\" (the method of the request)"]
        ),
        (
            "\"file\", \"path\": \"/run/token\"", "\"command\", \"command\": []",
            ["\"authorization.command\" is empty; use a list of strings, such as [\"/usr/bin/program\", \"argument\"]"]
        ),
        (
            "}}", "}, \"outbox.path\": \"/o\"}",
            ["\"outbox.path\" is not a key of Waypost; write it as \"path\" within \"outbox\""]
        ),
        (
            "{\"providerId\": \"p\", \"vehicleId\": \"v\"}", "{\"vehicleId\": \"v\"}, \"vehicle.providerId\": \"p\"",
            ["\"vehicle.providerId\" is not a key of Waypost; write it as \"providerId\" within \"vehicle\""]
        ),
        (
            "\"file\", \"path\": \"/run/token\"",
            "\"http\", \"url\": \"https://b/\", \"headers\": {\"Authorization\": \"Basic van:hush\"}",
            [
                "\"authorization.headers.Authorization\" has an unencoded user and password; write {\"file\": PATH, "
                    + "\"scheme\": \"basic\"}"
            ]
        ),
        (
            "\"stdin\"", "\"tcp\", \"host\": \"[::1]\"",
            ["\"receiver.host\" is \"[::1]\"; write only the name or address, and the port as \"port\""]
        ),
        (
            "\"stdin\"", "\"tcp\", \"host\": \"192.168.1.1:10110\"",
            ["\"receiver.host\" is \"192.168.1.1:10110\"; write only the name or address, and the port as \"port\""]
        ),
        (
            "\"stdin\"", "\"tcp\", \"host\": \"tcp://router\"",
            ["\"receiver.host\" is \"tcp://router\"; write only the name or address, and the port as \"port\""]
        ),
        (
            "\"v\"", "{\"environment\": \"$VAN\"}",
            [
                "\"vehicle.vehicleId\" comes from the environment variable $VAN, which isn't a variable's name; use "
                    + "letters, digits and _, such as VAN_ID"
            ]
        ),
        (
            "{\"type\": \"stdin\"}", "\"stdin\"",
            [
                "\"receiver\" is a string; use an object in braces, such as {\"type\": \"serial\", \"device\": \"/dev/ttyUSB0\"}"
            ]
        ),
        (
            "\"/run/token\"", "null",
            [
                "\"authorization.path\" is null; use a string in quotes (the token file, which another program replaces from time to time)"
            ]
        ),
        (
            "\"receiver\": {\"type\": \"stdin\"}, ", "",
            ["\"receiver\" is missing; write an object in braces; config.example.json contains an example"]
        ),
        ("}}", "}, \"status\": null}", ["\"status\" is null; use an object in braces"]),
        // Keys of other sections, and terms of other programs.
        (
            "\"v\"", "\"providers/p/vehicles/v\"",
            [
                "\"vehicle.vehicleId\" is \"providers/p/vehicles/v\", which is the name of a resource; write only the id, "
                    + "without \"providers/\" and the rest of the name"
            ]
        ),
        (
            "}}", "}, \"log\": {\"level\": \"WARN\"}}",
            [
                "\"log.level\" is \"WARN\"; use \"error\", \"warning\", \"info\" or \"debug\"; did you mean \"warning\"?"
            ]
        ),
        (
            "\"stdin\"", "\"serial\", \"device\": \"/dev/ttyS0\", \"baudRate\": \"auto\"",
            [
                "\"receiver.baudRate\" is \"auto\"; use 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600 or "
                    + "\"automatic\"; did you mean \"automatic\"?"
            ]
        ),
        (
            "}}", "}, \"intervalSeconds\": 5}",
            ["\"intervalSeconds\" is not a key of Waypost; did you mean \"reporting.intervalSeconds\"?"]
        ),
        (
            "}}", "}, \"upload\": {\"retry\": {\"heartbeatseconds\": 5}}}",
            [
                "\"upload.retry.heartbeatseconds\" is not a key of Waypost; did you mean \"reporting.heartbeatSeconds\"? (keys of \"upload.retry\": initialDelaySeconds, maximumDelaySeconds)"
            ]
        ),
        (
            "\"file\", \"path\": \"/run/token\"",
            "\"http\", \"url\": \"https://b/\", \"headers\": {\"X-Key\": \"hush\", \"x-key\": \"hush\"}",
            ["\"authorization.headers.x-key\" is the same header as X-Key; remove one of them"]
        ),
        ("}}", "}, \"logLevel\": \"debug\"}", ["\"logLevel\" is not a key of Waypost; did you mean \"log.level\"?"]),
        (
            "\"vehicle\": {\"providerId\": \"p\", \"vehicleId\": \"v\"}", "\"vehicleId\": \"v\"",
            [
                "\"vehicle\" is missing; write an object in braces; config.example.json contains an example",
                "\"vehicleId\" is not a key of Waypost; did you mean \"vehicle.vehicleId\"?",
            ]
        ),
        (
            "}}", "}, \"upload\": {\"verify_tls\": false, \"proxy\": \"http://user:hush@h/\"}}",
            [
                "\"upload.proxy\" is a string; use an object in braces, such as { \"url\": \"http://proxy.example.com:3128\" }",
                "\"upload.verify_tls\" is not a key of Waypost; remove it; certificates are always verified, and "
                    + "\"caFile\" specifies your own certificate authorities",
            ]
        ),
        (
            "\"file\", \"path\": \"/run/token\"", "\"http\", \"url\": \"https://b/\", \"apiKey\": \"hush\"",
            [
                "\"authorization.apiKey\" is not a key of \"type\": \"http\"; move it into \"headers\" of "
                    + "\"authorization\", under the name that the endpoint expects"
            ]
        ),
        (
            "\"stdin\"", "\"stdin\", \"baudRate\": 9600",
            [
                "\"receiver.baudRate\" is not a key of \"type\": \"stdin\"; it applies only if \"type\" is \"serial\"; remove it (keys of \"receiver\": acceptMissingChecksum)"
            ]
        ),
        (
            "}}", "}, \"log\": {\"file\": \"/var/log/waypost.log\"}}",
            [
                "\"log.file\" is not a key of Waypost; remove it; the log goes to standard error, and thus to the "
                    + "journal (journalctl -u waypost)"
            ]
        ),
        (
            "}}",
            "}, \"reporting\": {\"privateZones\": [{\"lat\": 48.1, \"lon\": 11.5, \"radiusMeters\": 200}]}}",
            [
                "\"reporting.privateZones[0].lat\" is not a key of Waypost; did you mean \"latitude\"?",
                "\"reporting.privateZones[0].lon\" is not a key of Waypost; did you mean \"longitude\"?",
            ]
        ),
        (
            "}}",
            "}, \"reporting\": {\"privateZones\": [{\"latitude\": \"48.1\", \"longitude\": 191, \"radiusMeters\": 0}]}}",
            [
                "\"reporting.privateZones[0].latitude\" is a string; use degrees from -90 to 90, without quotes",
                "\"reporting.privateZones[0].longitude\" is out of range; use degrees from -180 to 180",
                "\"reporting.privateZones[0].radiusMeters\" is out of range; use metres from 10 to 100000",
            ]
        ),
        (
            "}}", "}, \"status\": {\"listen\": \"127.0.0.1\"}}",
            ["\"status.listen\" is \"127.0.0.1\", which has no port; write 127.0.0.1:PORT"]
        ),
        (
            "}}", "}, \"status\": {\"listen\": \":9464\"}}",
            ["\"status.listen\" is \":9464\", which has no host; write 127.0.0.1:9464"]
        ),
        (
            "}}", "}, \"status\": {\"listen\": \"/run/waypost/status\"}}",
            ["\"status.listen\" is \"/run/waypost/status\", which is a path; write unix:/run/waypost/status"]
        ),
    ])
    func nothingIsReportedTwice(find: String, replacement: String, problems: [String]) {
        let text = Self.smallest.replacing("\n ", with: " ").replacing(find, with: replacement, maxReplacements: 1)
        #expect(Self.problems(in: text) == problems.map { "config.json: \($0)" })
    }

    @Test func allProblemsAreReportedAtOnce() {
        let problems = Self.problems(
            in: """
                {"vehicle": {"providerId": "", "vehicleId": "v", "colour": "red"}, "receiver": {"type": "radio"},
                 "reporting": {"intervalSeconds": 1}, "extra": 1}
                """)
        let about = [
            "vehicle.providerId", "vehicle.colour", "receiver.type", "authorization", "reporting.intervalSeconds",
            "extra",
        ]
        for key in about {
            #expect(problems.contains { $0.contains("\"\(key)\"") }, "nothing about \(key) in \(problems)")
        }
        #expect(problems.count == about.count, "\(problems)")
    }

    @Test(arguments: [
        ("", "line 1"), ("[]", "is an array instead of an object"), ("{\"vehicle\": }", "line 1"),
        ("{\"a\": 1, \"a\": 2}", "twice"),
        ("{\n  \"vehicle\": 1,,\n}", "line 2"),
    ])
    func invalidJSONIsReportedWithItsPosition(text: String, message: String) {
        let problems = Self.problems(in: text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains(message) == true, "\(problems)")
    }

    @Test func aMissingFileAndADirectoryHaveARemedy() {
        #expect(
            throws: ConfigurationError(problems: [
                ConfigurationProblem(
                    in: "/nonexistent/config.json",
                    "there is no such file; correct the path, or \(Configuration.exampleAdvice) there and edit it")
            ])
        ) { try Configuration(file: "/nonexistent/config.json") }
        #expect(
            throws: ConfigurationError(problems: [
                ConfigurationProblem(
                    in: "/tmp", "is a directory, not a file; specify the configuration file, which is JSON")
            ])
        ) {
            try Configuration(file: "/tmp")
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func anUnreadableFileHasARemedy() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("{}".utf8, to: "config.json", mode: 0o000)
        let problem = ConfigurationProblem(
            in: path,
            "cannot be read by this user; use sudo, or, for the service, run chgrp waypost \(path) and chmod g+r \(path)"
        )
        #expect(throws: ConfigurationError(problems: [problem])) {
            try Configuration(file: path)
        }
    }

    @Test(
        arguments: [
            ("recieverr", "receiver"), ("baudrate", "baudRate"), ("hearbeatSeconds", "heartbeatSeconds"),
            ("zzzzzz", nil), ("rec", "receiver"), ("heartbeatSecondsMaximum", "heartbeatSeconds"), ("xyz", nil),
            ("recevier", "receiver"),
        ] as [(String, String?)])
    func theClosestSpellingIsSuggested(word: String, expected: String?) {
        #expect(Spelling.nearest(to: word, among: ["receiver", "baudRate", "heartbeatSeconds"]) == expected)
    }
}
