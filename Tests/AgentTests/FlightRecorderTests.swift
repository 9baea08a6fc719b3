import FleetEngine
import FoundationEssentials
import GNSS
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
import StrictJSON
import Testing
import VehicleAuthorization
import WaypostTestSupport

@testable import Waypost

@Suite struct FlightRecording {
    let clock = ManualClock()
    let recorder: FlightRecorder

    init() { recorder = FlightRecorder(clock: MonotonicClock(clock)) }

    /// What has come since the last call: the receiver's bytes, and the lines.
    func taken() -> (receiver: String, lines: [String]) {
        guard let (receiver, lines) = recorder.takeBacklog() else { return ("", []) }
        return (
            String(decoding: receiver, as: UTF8.self),
            String(decoding: lines, as: UTF8.self).split(separator: "\n").map(String.init)
        )
    }

    func read(_ text: String) { recorder.received(Array(text.utf8).span) }

    @Test func tellsWhenBytesCame() {
        recorder.lineOpened()
        read("$A")
        clock.advance(by: .milliseconds(200))
        read("BC")
        clock.advance(by: .milliseconds(100))
        read("D\r\n")
        recorder.fixMade()
        read("$E")
        recorder.lineClosed()
        let (receiver, lines) = taken()
        #expect(receiver == "$ABCD\r\n$E")
        #expect(
            lines == [
                #"{"at":0,"line":"opened"}"#, #"{"at":0,"read":4}"#, #"{"at":300,"read":3}"#, #"{"at":300,"read":2}"#,
                #"{"at":300,"line":"closed"}"#,
            ])
        #expect(recorder.takeBacklog() == nil)
    }

    @Test func tellsWhatWasDecided() {
        let stored = ProgressWatching.stored
        for event: ReportingEvent in [
            .accepted(stored), .uploading(ProgressWatching.batch),
            .failed(.retry(reason: "503 of fleetengine.test", after: nil), traffic: HTTPTraffic()),
            .waiting(delay: .milliseconds(1500), reason: "503 of fleetengine.test"),
            .noToken(AuthorizationError(.refused, "its words")),
            .waiting(delay: .seconds(2), reason: "its words"), .quarantined(stored, reason: "its words"),
            .notStored(OutboxError(.full, "path")),
        ] { recorder.observe(event) }
        recorder.note(StatusReport.Account(Ledger(accepted: 9, evicted: 4)))
        recorder.note(StatusReport.Account(Ledger(accepted: 10, evicted: 4)))
        #expect(
            taken().lines == [
                #"{"accepted":1,"at":0,"timeOfFix":"2026-01-05T00:00:00.000Z"}"#, #"{"at":0,"uploading":1}"#,
                #"{"at":0,"reason":"retry","waiting":1500}"#, #"{"at":0,"reason":"token","waiting":2000}"#,
                #"{"at":0,"quarantined":1}"#, #"{"at":0,"notStored":"full"}"#, #"{"at":0,"evicted":4}"#,
            ])
    }

    /// The outcome of a request and of a token fetch, and not a word of what they carried.
    @Test func tellsOutcomesWithoutSecrets() async throws {
        let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "van-7")
        let inner = ScriptedTransport { _ throws(HTTPTransportError) in
            HTTPResponse(
                status: 503, headers: HTTPHeaders(["Retry-After": "7", "X-Secret": "s3cret"]),
                body: Array("s3cret".utf8),
                traffic: HTTPTraffic(bytesSent: 10, bytesReceived: 20))
        }
        let transport = FlightTransport(transport: inner, vehicle: vehicle, recorder: recorder)
        let update = VehicleUpdate(
            of: vehicle, state: .online, lastLocation: VehicleLocation(ProgressWatching.stored.update))
        let endpoint = try HTTPURL("https://fleetengine.test")
        _ = try await transport.send(try update.request(to: endpoint, token: "s3cret", limits: HTTPLimits()))
        let state = VehicleUpdate(of: vehicle, state: .offline)
        _ = try await transport.send(try state.request(to: endpoint, token: "s3cret", limits: HTTPLimits()))
        transport.networkChanged()
        let issuer = ScriptedAuthorization { (_, asked) throws(AuthorizationError) in
            if asked > 1 { throw AuthorizationError(.refused, "s3cret", retryAfter: .seconds(3)) }
            return AuthorizationToken(value: "s3cret", lifetime: .seconds(3600))
        }
        let authorization = FlightAuthorization(provider: issuer, recorder: recorder)
        let context = AuthorizationContext(vehicleID: "van-7")
        _ = try await authorization.token(for: context)
        await #expect(throws: AuthorizationError.self) { try await authorization.token(for: context) }
        let lines = taken().lines
        #expect(
            lines == [
                #"{"at":0,"number":1,"request":"update"}"#,
                #"{"after":7000,"answer":"retry","at":0,"number":1,"received":20,"sent":10,"status":503,"took":0}"#,
                #"{"at":0,"number":2,"request":"state"}"#,
                #"{"after":7000,"answer":"retry","at":0,"number":2,"received":20,"sent":10,"status":503,"took":0}"#,
                #"{"at":0,"network":"returned"}"#, #"{"at":0,"lifetime":3600000,"token":"fetched","took":0}"#,
                #"{"after":3000,"at":0,"token":"refused","took":0}"#,
            ])
    }

    @Test func losesRatherThanGrowsWhenTheDiskIsSlow() {
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        for _ in 0..<100 { recorder.received(block.span) }
        let (receiver, _) = taken()
        #expect(receiver.utf8.count <= FlightSettings.longestBacklog)
        recorder.lineClosed()
        #expect(taken().lines == [#"{"at":0,"lost":85}"#, #"{"at":0,"line":"closed"}"#])
    }

    static func names(in folder: String) throws -> [String] { try FileSystem.names(inFolder: folder).sorted() }

    @Test func keepsTheNewestFilesAndGoesOnAfterARestart() throws {
        let folder = try TemporaryFolder()
        let place = folder.path("drive")
        let settings = FlightSettings(folder: place, segmentBytes: 400, segments: 2)
        let header = FlightFiles.header(at: UTCTime(year: 2026, month: 11, day: 21), isSynchronized: true)
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100)
        var files = try FlightFiles(settings, header: header)
        for _ in 0..<6 { try files.write(receiver: text, lines: text) }
        #expect(
            try Self.names(in: place) == [
                "flight-000005.jsonl", "flight-000006.jsonl", "receiver-000005.nmea", "receiver-000006.nmea",
            ])
        files = try FlightFiles(settings, header: header)
        try files.write(receiver: [], lines: text)
        #expect(
            try Self.names(in: place) == [
                "flight-000006.jsonl", "flight-000007.jsonl", "receiver-000006.nmea",
            ])
        let path = place + "/flight-000007.jsonl"
        let first = try Data(contentsOf: URL(filePath: path)).prefix { $0 != 0x0A }
        let words = try JSONValue(parsing: Array(first))
        #expect(words["flight"]?.integerValue == 1 && words["run"]?.stringValue == "2026-11-21T00:00:00.000Z")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    /// Files that only look like its own: no number follows theirs.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1000000000", "0"])
    func countsNoNumberThatItNeverGives(number: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("".utf8, to: "flight-\(number).jsonl")
        let settings = FlightSettings(folder: folder.path(""))
        let header = FlightFiles.header(at: UTCTime(year: 2026, month: 11, day: 21), isSynchronized: true)
        var files = try FlightFiles(settings, header: header)
        try files.write(receiver: [], lines: [UInt8(ascii: "a")])
        #expect(try Self.names(in: folder.path("")).contains("flight-000001.jsonl"))
        #expect(try Self.names(in: folder.path("")).contains("flight-\(number).jsonl"))
    }

    @Test func endsWithAWordWhenItCannotWrite() async {
        let words = Locked([String]())
        await recorder.write(FlightSettings(folder: "/proc/none")) { text in words.withLock { $0.append(text) } }
        #expect(
            words.withLock { $0 } == [
                "the run is not recorded in /proc/none any more: create folder /proc/none: No such file or directory; "
                    + "see that there is room and that this user may write, or give --record another folder; "
                    + "restart to record again; reporting goes on"
            ])
    }

    /// It tells which file, whatever the disk says.
    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func endsWithAWordOnAFullDisk() throws {
        let folder = try TemporaryFolder()
        let disk = try TinyFileSystem(at: folder.path("disk"), megabytes: 1)
        let place = folder.path("disk/drive")
        let header = FlightFiles.header(at: UTCTime(year: 2026, month: 11, day: 21), isSynchronized: true)
        var files = try FlightFiles(FlightSettings(folder: place), header: header)
        try files.write(receiver: [1], lines: [2])
        try disk.fill()
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let error = #expect(throws: SystemError.self) { try files.write(receiver: text, lines: []) }
        #expect(error?.description == "write \(place)/receiver-000001.nmea: No space left on device")
    }
}
