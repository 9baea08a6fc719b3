import FoundationEssentials
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations

@Suite struct ConfigurationKeys {
    @Test func areExactlyTheKeysThatAreRead() throws {
        let paths = ConfigurationKey.all.map { $0.path + ($0.type.map { " of \($0)" } ?? "") }
        #expect(Set(paths).count == paths.count, "a key is declared twice")
        for path in [
            "$schema", "vehicle", "vehicle.vehicleId", "receiver.type", "receiver.baudRate of serial",
            "receiver.device of serial", "receiver.device of gpsd", "receiver.follow of file", "receiver.port of udp",
            "receiver.acceptMissingChecksum of tcp", "authorization.url of http", "authorization.headers of http",
            "authorization.command of command", "authorization.path of file", "authorization.tokenShape of file",
            "consumerAuthorization.body of http", "upload.retry.maximumDelaySeconds", "log.format",
        ] {
            #expect(paths.contains(path), "\(path) is not declared")
        }
        #expect(!paths.contains("receiver.acceptMissingChecksum of gpsd"))
        let required = ConfigurationKey.all.filter { $0.isRequired && $0.type == nil }.map(\.path)
        #expect(
            required == [
                "vehicle", "vehicle.providerId", "vehicle.vehicleId", "receiver", "receiver.type", "authorization",
                "authorization.type", "consumerAuthorization.type", "upload.proxy.url",
            ])
    }

    @Test func haveADescription() {
        for key in ConfigurationKey.all {
            #expect(!key.description.isEmpty && !key.description.hasSuffix("."), "\(key.path)")
            #expect(key.fallback == nil || !key.isRequired, "\(key.path)")
        }
    }

    /// The table of all keys in docs/configuration.md matches the reader's declarations.
    @Test func areExactlyTheDocumentedKeys() throws {
        let page = try String(
            contentsOf: Fixtures.checkout.appending(path: "docs/configuration.md"), encoding: .utf8)
        var documented: Set<String> = []
        for row in page.split(separator: "\n") {
            let cells = row.split(separator: "|").map {
                String($0).replacing("`", with: "").split(separator: " ").joined(separator: " ")
            }
            guard row.hasPrefix("| `"), cells.count == 4,
                let key = ConfigurationKey.all.first(where: { $0.path == cells[0] })
            else { continue }
            documented.insert(key.path)
            switch key.form {
            case .section, .string, .strings, .secret, .secrets: break
            case .choice where cells[1].hasPrefix("see "): break
            default: #expect(cells[1] == key.allowedValues, "\(key.path)")
            }
            let fallback = key.fallback.map { $0.stringValue ?? $0.text }
            #expect(
                cells[2].replacing("\"", with: "") == fallback ?? (key.isRequired ? "required" : cells[2]),
                "\(key.path)")
        }
        let missing = ConfigurationKey.all.filter { key in
            key.form != .section && key.type == nil && !key.path.hasPrefix("consumerAuthorization")
                && !documented.contains(key.path)
        }
        #expect(missing.map(\.path) == [])
        // Keys of one type of receiver or provider are in that type's table.
        for key in ConfigurationKey.all where key.type != nil {
            let isDocumented = page.contains("`\(key.name)`") || documented.contains(key.path)
            #expect(isDocumented, "\(key.path)")
        }
    }
}

@Suite struct ConfigurationSettings {
    static let text = """
        {"vehicle": {"providerId": "p",
                     "vehicleId": "v"},
         "receiver": {"type": "serial", "device": "/dev/gnss", "baudRate": "automatic"},
         "authorization": {"type": "http", "url": "https://b.example.com/t?key=hush", "method": "POST", "body": "hush",
           "headers": {"Authorization": {"file": "/nowhere/key", "scheme": "bearer"},
                       "X-Key": "hush"}},
         "upload": {"retry": {"initialDelaySeconds": 0.5}}}
        """

    @Test func listValuesAndSources() throws {
        let settings = try Configurations.read(Self.text).settings
        let lines = settings.map { setting -> String in
            let source =
                switch setting.source {
                case .fallback: "default"
                case .line(let line): "\(line)"
                case .reference(let reference): reference.description
                }
            return "\(setting.path) \(setting.value?.text ?? "none") \(source)"
        }
        for line in [
            #"vehicle.providerId "p" 1"#, #"vehicle.vehicleId "v" 2"#, #"vehicle.service "onDemandTrips" default"#,
            #"receiver.baudRate "automatic" 3"#, "receiver.acceptMissingChecksum false default",
            #"authorization.url "https://b.example.com/t?…" 4"#, #"authorization.body "…" 4"#,
            #"authorization.headers.Authorization "…" the file /nowhere/key"#, #"authorization.headers.X-Key "…" 6"#,
            "authorization.caFile none default", "upload.retry.initialDelaySeconds 0.5 7",
            #"outbox.maximumAgeDays "unlimited" default"#, "$schema none default",
        ] {
            #expect(lines.contains(line), "\(line) is not in \(lines)")
        }
        #expect(!lines.contains { $0.contains("hush") })
        #expect(Set(settings.map(\.path)).count == settings.count)
    }

    @Test func belongToOneKeyEach() throws {
        let keys = Set(ConfigurationKey.all.map(\.path))
        for setting in try Configurations.read(Self.text).settings where !setting.path.contains("headers.") {
            #expect(keys.contains(setting.path))
        }
    }
}
