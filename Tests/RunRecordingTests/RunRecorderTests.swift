import FleetEngine
import FoundationEssentials
import GNSS
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
import StrictJSON
import Testing
import TimeAndChance
import VehicleAuthorization
import WaypostTestSupport

@testable import RunRecording

@Suite struct RunRecorders {
    let clock = ManualClock()
    let recorder: RunRecorder
    let stored = StoredUpdate(
        sequence: 1,
        update: LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10))
    static let header = RunHeader(run: "2026-11-21T00:00:00.000Z", isSynchronized: true, version: "0.1.0")

    init() { recorder = RunRecorder(clock: MonotonicClock(clock)) }

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
        recorder.fixMade(.sample(0))
        read("$E")
        recorder.lineClosed()
        let (receiver, lines) = taken()
        #expect(receiver == "$ABCD\r\n$E")
        #expect(
            lines == [
                #"{"at":0,"lineOpened":{}}"#, #"{"at":0,"read":{"bytes":4}}"#, #"{"at":300,"read":{"bytes":3}}"#,
                #"{"at":300,"read":{"bytes":2}}"#, #"{"at":300,"lineClosed":{}}"#,
            ])
        #expect(recorder.takeBacklog() == nil)
    }

    /// Each fix with the sentences that led to it, once it is judged; that of a zone, or of a private vehicle, never.
    @Test func keepsNothingThatIsPrivate() {
        let zone = PrivateZone(latitude: 50, longitude: 10, radiusMeters: 100)
        recorder.keepPrivate(in: [zone], hasSwitch: true)
        func fix(_ second: Double, north: Double, _ text: String, _ event: (Fix) -> ReportingEvent) {
            let fix = Fix.sample(second, north: north)
            read(text)
            recorder.fixMade(fix)
            recorder.observe(event(fix))
        }
        fix(0, north: 900, "a", { .fix($0) })
        fix(1, north: 800, "b", { .refused($0, .jump(meters: 9)) })
        fix(2, north: 700, "c", { _ in .withheld })
        fix(3, north: 600, "d", { .fix($0) })
        fix(4, north: 600, "e", { .fix($0) })
        fix(5, north: 50, "f", { .fix($0) })
        fix(6, north: 500, "g", { .fix($0) })
        fix(7, north: 500, "h", { .fix($0) })
        recorder.observe(.privateModeBegan)
        read("i")
        recorder.observe(.privateModeEnded)
        recorder.fixMade(.sample(8, north: 500))
        recorder.observe(.fix(.sample(8, north: 500)))
        // The read in which a fix was completed may hold the beginning of the next: it waits for that one.
        #expect(taken().receiver == "adg")
    }

    @Test func tellsWhatWasDecided() {
        for event: ReportingEvent in [
            .accepted(stored), .uploading(UploadBatch(last: stored, lastIsPending: true, past: [])),
            .failed(.retry(reason: "503 of fleetengine.test", after: nil), traffic: HTTPTraffic()),
            .waiting(delay: .milliseconds(1500), reason: "503 of fleetengine.test"),
            .noToken(AuthorizationError(.refused, "its words")),
            .waiting(delay: .seconds(2), reason: "its words"), .quarantined(stored, reason: "its words"),
            .notStored(LocationUpdate(.sample(0)), OutboxError(.full, "path")), .tooSoon(.sample(1)),
        ] { recorder.observe(event) }
        recorder.note(evicted: 4)
        recorder.note(evicted: 4)
        #expect(
            taken().lines == [
                #"{"accepted":{"timeOfFix":"2026-01-05T00:00:00.000Z","update":1},"at":0}"#,
                #"{"at":0,"uploading":{"updates":1}}"#, #"{"at":0,"waiting":{"delay":1500,"reason":"retry"}}"#,
                #"{"at":0,"waiting":{"delay":2000,"reason":"token"}}"#, #"{"at":0,"quarantined":{"update":1}}"#,
                #"{"at":0,"notStored":{"error":"full"}}"#,
                #"{"at":0,"tooSoon":{"timeOfFix":"2026-01-05T10:00:01.000Z"}}"#, #"{"at":0,"evicted":{"total":4}}"#,
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
        let transport = RecordingTransport(inner, vehicle: vehicle, recorder: recorder)
        let update = VehicleUpdate(
            of: vehicle, state: .online, lastLocation: VehicleLocation(stored.update))
        let endpoint = try HTTPURL("https://fleetengine.test")
        _ = try await transport.send(try update.request(to: endpoint, token: "s3cret", limits: HTTPLimits()))
        let state = VehicleUpdate(of: vehicle, state: .offline)
        _ = try await transport.send(try state.request(to: endpoint, token: "s3cret", limits: HTTPLimits()))
        transport.networkChanged()
        let issuer = ScriptedAuthorization { (_, asked) throws(AuthorizationError) in
            if asked > 1 { throw AuthorizationError(.refused, "s3cret", retryAfter: .seconds(3)) }
            return AuthorizationToken(value: "s3cret", lifetime: .seconds(3600))
        }
        let authorization = RecordingAuthorization(issuer, recorder: recorder)
        let context = AuthorizationContext(vehicleID: "van-7")
        _ = try await authorization.token(for: context)
        await #expect(throws: AuthorizationError.self) { try await authorization.token(for: context) }
        let lines = taken().lines
        func answer(_ number: Int) -> String {
            #"{"answer":{"after":7000,"number":\#(number),"outcome":"retry","received":20,"sent":10,"status":503,"took":0},"#
                + #""at":0}"#
        }
        #expect(
            lines == [
                #"{"at":0,"request":{"number":1,"purpose":"update"}}"#, answer(1),
                #"{"at":0,"request":{"number":2,"purpose":"state"}}"#, answer(2), #"{"at":0,"networkReturned":{}}"#,
                #"{"at":0,"token":{"lifetime":3600000,"took":0}}"#,
                #"{"at":0,"token":{"after":3000,"error":"refused","took":0}}"#,
            ])
    }

    /// Everything that is written is read as what it was.
    @Test(arguments: [
        RecordedEvent.lineOpened, .read(bytes: 4), .request(number: 1, purpose: .state),
        .answer(
            number: 1, outcome: "unreachable", status: nil, error: .timedOut, took: 2, sent: 3, received: 4, after: nil),
        .token(error: .refused, took: 1, lifetime: nil, after: 2), .draw(of: .upload, value: 0.25),
        .repair(stage: "store", number: 1),
    ])
    func isReadAsItWasWritten(event: RecordedEvent) {
        let entry = RecordingEntry(at: 7, event)
        #expect(RecordingLine.value(RecordingEntry.self, of: RecordingLine.bytes(entry)[...]) == entry)
    }

    @Test(arguments: [
        (
            #"{"format":2,"version":"0.9.0"}"#,
            "has format 2, this release knows 1; use the release that made it (0.9.0)"
        ),
        (#"{"format":1}"#, "its run recordings are empty or damaged"), ("", "its run recordings are empty or damaged"),
    ])
    func refusesAnotherFormat(header: String, words: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(header.utf8, to: "recording-000001.jsonl")
        let error = #expect(throws: RecordingError.self) { try RecordedRun(folder: folder.path("")) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }

    @Test func losesRatherThanGrowsWhenTheDiskIsSlow() {
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        for _ in 0..<100 { recorder.received(block.span) }
        let (receiver, _) = taken()
        #expect(receiver.utf8.count <= RecordingSettings.longestBacklog)
        recorder.lineClosed()
        #expect(taken().lines == [#"{"at":0,"lost":{"entries":85}}"#, #"{"at":0,"lineClosed":{}}"#])
    }

    /// One that is idle keeps nothing, and is told at any time to record for a while, from that moment on.
    @Test func recordsForAWhileWhenItIsTold() async throws {
        let recorder = RunRecorder(clock: MonotonicClock(clock), isIdle: true)
        recorder.lineOpened()
        recorder.received(Array("$BEFORE\r\n".utf8).span)
        recorder.observe(.accepted(stored))
        #expect(!recorder.isRecording && recorder.takeBacklog() == nil && !recorder.keepsOutput)
        clock.advance(by: .seconds(86_400))

        let folder = try TemporaryFolder()
        let settings = RecordingSettings(folder: folder.path("drive"), version: "0.1.0")
        let recording = Task { await recorder.record(settings, for: .seconds(600)) }
        for await sleep in clock.sleeps where sleep == .seconds(600) { break }
        recorder.received(Array("$DURING\r\n".utf8).span)
        clock.advance(by: .seconds(599))
        recorder.observe(.accepted(stored))
        clock.advance(by: .seconds(1))
        #expect(await recording.value == nil)
        recorder.received(Array("$AFTER\r\n".utf8).span)
        #expect(!recorder.isRecording && recorder.takeBacklog() == nil)

        let run = try RecordedRun(folder: folder.path("drive"))
        #expect(run.entries.map(\.at) == [0, 0, 599_000], "its times begin with it")
        #expect(run.entries.first?.event == .lineOpened && run.entries.dropFirst().first?.event == .read(bytes: 9))
        let receiver = try Data(contentsOf: URL(filePath: folder.path("drive/receiver-000001.nmea")))
        #expect(Array(receiver) == Array("$DURING\r\n".utf8))
    }

    @Test func endsARecordingEarlyWhereItCannotWrite() async {
        let recorder = RunRecorder(clock: MonotonicClock(clock), isIdle: true)
        let failure = await recorder.record(
            RecordingSettings(folder: "/proc/none", version: "0.1.0"), for: .seconds(600))
        #expect(failure?.description == "create folder /proc/none: No such file or directory")
        #expect(!recorder.isRecording)
    }

    static func names(in folder: String) throws -> [String] { try FileSystem.names(inFolder: folder).sorted() }

    @Test func keepsTheNewestFilesAndGoesOnAfterARestart() throws {
        let folder = try TemporaryFolder()
        let place = folder.path("drive")
        let settings = RecordingSettings(folder: place, version: "0.1.0", segmentBytes: 400, segments: 2)
        let header = Self.header
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100)
        var files = try RecordingFiles(settings, header: header)
        for _ in 0..<6 { try files.write(receiver: text, lines: text) }
        #expect(
            try Self.names(in: place) == [
                "receiver-000005.nmea", "receiver-000006.nmea", "recording-000005.jsonl", "recording-000006.jsonl",
            ])
        files = try RecordingFiles(settings, header: header)
        try files.write(receiver: [], lines: text)
        #expect(
            try Self.names(in: place) == [
                "receiver-000006.nmea", "recording-000006.jsonl", "recording-000007.jsonl",
            ])
        let path = place + "/recording-000007.jsonl"
        let first = try Data(contentsOf: URL(filePath: path)).prefix { $0 != 0x0A }
        let words = try JSONValue(parsing: Array(first))
        #expect(words["format"]?.integerValue == 1 && words["run"]?.stringValue == "2026-11-21T00:00:00.000Z")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    /// Files that only look like its own: no number follows theirs.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1000000000", "0"])
    func countsNoNumberThatItNeverGives(number: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("".utf8, to: "recording-\(number).jsonl")
        let settings = RecordingSettings(folder: folder.path(""), version: "0.1.0")
        let header = Self.header
        var files = try RecordingFiles(settings, header: header)
        try files.write(receiver: [], lines: [UInt8(ascii: "a")])
        #expect(try Self.names(in: folder.path("")).contains("recording-000001.jsonl"))
        #expect(try Self.names(in: folder.path("")).contains("recording-\(number).jsonl"))
    }

    @Test(arguments: [
        (
            "/proc/none",
            "create folder /proc/none: No such file or directory; see that there is room and that this user may write, or "
                + "give --record another folder"
        ), ("/dev/null", "open folder /dev/null: Not a directory; give --record the path of a folder"),
    ])
    func endsWithAWordWhenItCannotWrite(folder: String, reason: String) async {
        let words = Locked([String]())
        await recorder.write(RecordingSettings(folder: folder, version: "0.1.0")) { text in
            words.withLock { $0.append(text) }
        }
        #expect(
            words.withLock { $0 } == [
                "the run is not recorded in \(folder) from here on: \(reason); restart to record again; reporting continues"
            ])
    }

    /// It tells which file, whatever the disk says.
    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func endsWithAWordOnAFullDisk() throws {
        let folder = try TemporaryFolder()
        let disk = try TinyFileSystem(at: folder.path("disk"), megabytes: 1)
        let place = folder.path("disk/drive")
        let header = Self.header
        var files = try RecordingFiles(RecordingSettings(folder: place, version: "0.1.0"), header: header)
        try files.write(receiver: [1], lines: [2])
        try disk.fill()
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let error = #expect(throws: SystemError.self) { try files.write(receiver: text, lines: []) }
        #expect(error?.description == "write \(place)/receiver-000001.nmea: No space left on device")
    }
}
