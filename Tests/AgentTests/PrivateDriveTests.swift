import FleetEngineSimulator
import FoundationEssentials
import GNSS
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// A drive that is partly private: at the start, by a switch, and in a zone. Everything that is written, sent and shown
/// is searched for the coordinates of the private parts.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program many times, which takes seconds under a sanitizer")
)
struct PrivateDrives {
    let bench: ServiceBench

    init() throws { bench = try ServiceBench() }

    private var switchPath: String { bench.directory.path("private") }
    private func turnPrivateModeOn() throws { _ = try bench.directory.write([], to: "private") }
    private func turnPrivateModeOff() throws { try FileManager.default.removeItem(atPath: switchPath) }

    private func configure(zones: [(centre: Fix, radius: Int)], receiver: String? = nil) throws -> String {
        let circles = zones.map {
            #"{"latitude": \#($0.centre.latitude), "longitude": \#($0.centre.longitude), "radiusMeters": \#($0.radius)}"#
        }
        return try bench.configure {
            $0.status = "unix:" + bench.directory.path("status")
            $0.receiver = receiver
            $0.reporting = #""privateZones": [\#(circles.joined(separator: ", "))]"#
            $0.vehicle = #""privateModeFile": "\#(switchPath)""#
        }
    }

    private static let (beginMessage, endMessage, withheldMessage) = (
        "private mode on: ", "private mode off", "fix withheld"
    )

    private static func count(of message: String, in lines: some Sequence<LineFlow.Line>) -> Int {
        lines.count { $0.text.contains(message) }
    }

    @Test func leaveNoTrace() async throws {
        let epochs = Array(RecentDrive(epochs: 30))
        let centre = try #require(epochs[22].truth)
        try turnPrivateModeOn()
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try configure(zones: [(centre, 300)])
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config, "--record", bench.directory.path("recording")],
            environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        var evidence = Evidence(bench, config, try await service.statusAddress())
        /// Sends one epoch and waits, because only the receiver's newest fix is used. Returns whether the fix was
        /// reported.
        func send(_ epoch: DriveEpoch) async throws -> Bool {
            let before = service.errors.lines.count
            try receiver.send(epoch)
            var isReported = false
            let isJudged = await service.errors.wait { lines in
                let new = lines.dropFirst(before)
                isReported = new.contains { $0.text.contains("accepted update") }
                return isReported || Self.count(of: Self.withheldMessage, in: new) > 0
            }
            try #require(isJudged)
            return isReported
        }
        var reportedEpochs: [DriveEpoch] = []

        // The vehicle is private from the start.
        for epoch in epochs[0..<3] { #expect(try await !send(epoch)) }
        try #require(await service.errors.line(saying: "vehicle is OFFLINE") != nil)
        try await evidence.collect()
        let why = try await BuiltProgram.run(["why", "--config", config])
        #expect(why.ending == .exited(0))
        #expect(String(decoding: why.standardOutput, as: UTF8.self).contains("Private mode on, since"))
        #expect(await bench.vehicle?.vehicleState == "OFFLINE")
        #expect(await bench.vehicle?.lastLocations == 0)

        // The vehicle is on the road and not private.
        try turnPrivateModeOff()
        try #require(await service.errors.line(saying: Self.endMessage) != nil)
        for epoch in epochs[3..<10] where try await send(epoch) { reportedEpochs.append(epoch) }
        try #require(await bench.arrival(of: epochs[9]) != nil)
        #expect(await bench.vehicle?.vehicleState == "ONLINE")

        // The switch makes the vehicle private.
        try turnPrivateModeOn()
        for epoch in epochs[10..<14] { #expect(try await !send(epoch)) }
        try await evidence.collect([["bundle", "-o", "-"]])
        try turnPrivateModeOff()
        try #require(await service.errors.line(saying: Self.endMessage, times: 2) != nil)

        // The vehicle drives through the zone until the end.
        var isInZone: [Bool] = []
        for epoch in epochs[14..<30] {
            isInZone.append(try #require(epoch.truth).distance(to: centre) <= 300)
            let isReported = try await send(epoch)
            if isReported { reportedEpochs.append(epoch) }
            #expect(!(isReported && isInZone.last == true))
            if epoch.time == epochs[22].time { try await evidence.collect() }
        }
        try #require(isInZone.contains(true) && isInZone.last == false)
        try #require(await bench.arrival(of: epochs[29]) != nil)
        try await evidence.collect()
        #expect(await service.terminate().ending == .exited(0))

        #expect(Self.count(of: Self.beginMessage, in: service.errors.lines) == 3)
        #expect(Self.count(of: Self.endMessage, in: service.errors.lines) == 3)
        // Every fix is reported, except the first ones after the switch is off and those at the zone's border.
        #expect(reportedEpochs.count >= 14)
        let hidden = epochs[0..<3] + epochs[10..<14] + zip(epochs[14..<30], isInZone).filter(\.1).map(\.0)
        try await evidence.expect(
            hidden: Array(hidden), reportedEpochs: reportedEpochs, of: epochs, log: service.errors.text)
    }

    /// The switch is turned on and off while the process is stopped. In between, `waypost status` waits ten seconds for
    /// the stopped service.
    @Test func leaveNoTraceOfThePartWhileTheProcessIsStopped() async throws {
        let epochs = Array(RecentDrive(epochs: 4))
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try configure(zones: [])
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        var evidence = Evidence(bench, config, try await service.statusAddress())
        for (number, epoch) in zip(1..., epochs[..<2]) {
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
        }
        try #require(await bench.arrival(of: epochs[1]) != nil)

        service.signal(SIGSTOP)
        try turnPrivateModeOn()
        for epoch in epochs[2...] { try receiver.send(epoch) }
        let status = try await BuiltProgram.run(["status", "--config", config])
        #expect(status.ending == .exited(69))
        try turnPrivateModeOff()
        service.signal(SIGCONT)
        #expect(await service.errors.line(saying: Self.withheldMessage) != nil)
        try await evidence.collect()
        #expect(await service.terminate().ending == .exited(0))
        try await evidence.expect(
            hidden: Array(epochs[2...]), reportedEpochs: Array(epochs[..<2]), of: epochs, log: service.errors.text)
    }

    /// A receiver that is switched on in a zone repeats its last position until it has a fix on the road.
    @Test func leaveNoTraceInSentencesWithoutAPosition() async throws {
        let epochs = Array(RecentDrive(epochs: 20))
        let hidden = try #require(epochs[0].truth)
        func fields(_ epoch: DriveEpoch) throws -> [Substring] {
            let lines = String(decoding: epoch.sentences, as: UTF8.self).split(separator: "\r\n")
            let line = try #require(lines.first { $0.hasPrefix("$GNRMC") })
            return line.dropFirst().prefix { $0 != "*" }.split(separator: ",", omittingEmptySubsequences: false)
        }
        var void = try fields(epochs[0])
        let latitude = String(void[3])
        void[1] = try fields(epochs[1])[1]
        void[2] = "V"
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let service = try RunningProgram(
            [
                BuiltProgram.waypost, "run", "--config", try configure(zones: [(hidden, 100)]), "--record",
                bench.directory.path("recording"),
            ], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try receiver.send(Array(sentence(void.joined(separator: ",")).utf8))
        for (number, epoch) in zip(1..., epochs[12..<16]) {
            try receiver.send(epoch)
            try #require(await service.errors.line(saying: "accepted update \(number)") != nil)
        }
        #expect(await service.terminate().ending == .exited(0))
        let recorded = String(
            decoding: try BoundedFile.contents(
                of: bench.directory.path("recording/receiver-000001.nmea"), limit: 1 << 20),
            as: UTF8.self)
        #expect(!recorded.contains(latitude))
        #expect(recorded.contains(try fields(epochs[14])[3]), "the drive on the road is recorded: \(recorded)")
    }

    /// An hour of the drive is private because of the switch, and two parts because of zones. The log is read no
    /// faster than its fixes are reported, so each fix is checked.
    @Test func leaveNoTraceOfAnHour() async throws {
        let epochs = Array(RecentDrive(epochs: 960))  // 80 minutes
        let (first, hour, last) = (epochs[..<120], epochs[120..<840], epochs[840...])
        let centres = (try #require(epochs[60].truth), try #require(epochs[900].truth))
        let zones: [(centre: Fix, radius: Int)] = [(centres.0, 300), (centres.1, 500)]
        let pipe = bench.directory.path("drive")
        try valueOrSystemError("make pipe") { unsafe mkfifo(pipe, 0o600) }
        let writer = try OwnedDescriptor(opening: pipe, O_RDWR)  // the log has been read when no process has it open
        func write(_ epochs: some Sequence<DriveEpoch>) async throws {
            let part = try bench.directory.write(epochs.flatMap(\.sentences), to: "part")
            defer { try? FileManager.default.removeItem(atPath: part) }
            _ = try await ChildProcess(
                arguments: ["/bin/sh", "-c", "cat '\(part)' >'\(pipe)'"], timeLimit: BuiltProgram.hangTimeout
            ).run()
        }
        let config = try configure(zones: zones, receiver: #"{"type": "file", "path": "\#(pipe)"}"#)
        try await write(first.prefix(1))
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        var evidence = Evidence(bench, config, try await service.statusAddress())
        try await write(first.dropFirst())
        // Wait for the last epoch but one: the last one is complete only when a sentence of another epoch follows.
        try #require(await bench.arrival(of: epochs[118]) != nil)

        try turnPrivateModeOn()
        try #require(await service.errors.line(saying: Self.beginMessage, times: 2) != nil)
        let before = service.errors.lines.count
        try await write(hour)
        let isJudged = await service.errors.wait { lines in
            lines.count >= before + hour.count - 1
                && Self.count(of: Self.withheldMessage, in: lines.dropFirst(before)) >= hour.count - 1
        }
        try #require(isJudged)
        try await evidence.collect([["status"], ["outbox", "export"], ["bundle", "-o", "-"]])

        try turnPrivateModeOff()
        try #require(await service.errors.line(saying: Self.endMessage, times: 2) != nil)
        try await write(last)
        try #require(await bench.arrival(of: epochs[958]) != nil)
        try await evidence.collect()
        _ = consume writer
        #expect(await service.end() == .exited(0))

        func distances(_ epoch: DriveEpoch) -> [Double] {
            zones.map { zone in epoch.truth.map { $0.distance(to: zone.centre) - Double(zone.radius) } ?? 0 }
        }
        let around = first + last
        let hidden = hour + around.filter { epoch in distances(epoch).contains { $0 <= 0 } }
        // The last fix before the private hour may belong to the hour, and the first fix after the hour does. The
        // vehicle has left a zone only when it is outside by more than the possible error of a fix.
        let reportedEpochs = (first.dropLast() + last.dropFirst()).filter { epoch in
            distances(epoch).allSatisfy { $0 > 100 }
        }
        #expect(reportedEpochs.count > 200)
        try await evidence.expect(
            hidden: Array(hidden), reportedEpochs: reportedEpochs, of: epochs, log: service.errors.text)
    }
}

/// The data that was written, sent and shown, which is searched.
private struct Evidence {
    private let bench: ServiceBench
    private let config: String
    private let address: LocalAddress
    private var shown = ""
    /// The times of the records in the outbox.
    private var stored: Set<Int64> = []

    init(_ bench: ServiceBench, _ config: String, _ address: LocalAddress) {
        (self.bench, self.config, self.address) = (bench, config, address)
    }

    /// Adds the current output of the commands and the contents of the outbox, because delivered updates are
    /// overwritten in time.
    mutating func collect(_ commands: [[String]] = [["status"], ["outbox", "export"]]) async throws {
        for path in ["/status", "/metrics", "/healthz", "/", "/page.json", "/map"] {
            shown += await RawExchange.get(path, from: address).text
        }
        for suffix in ["", "-wal"] {
            let file = FileManager.default.contents(atPath: bench.directory.path("outbox.sqlite" + suffix))
            stored.formUnion(Self.times(in: Array(file ?? Data())))
        }
        for words in commands {
            let outcome = try await BuiltProgram.run(words + ["--config", config])
            #expect(outcome.ending != .exited(64), "\(words)")
            shown += String(decoding: outcome.standardOutput + outcome.standardError, as: UTF8.self)
        }
    }

    /// Expects that no part of `hidden` is found, and that all `reportedEpochs` are found. `epochs` is the whole drive.
    func expect(hidden: [DriveEpoch], reportedEpochs: [DriveEpoch], of epochs: [DriveEpoch], log: String) async throws {
        let text = try Self.contents(ofFilesBelow: bench.directory.url.path) + shown + log + bench.arrivals.text
        let everything = Self.numbers(in: text)
        let delivered = Set(try #require(await bench.vehicle).deliveries.keys.map { "\($0)" })
        // A street may return to the latitude of a private place.
        let hiddenTimes = Set(hidden.map(\.time))
        let open = Set(epochs.filter { !hiddenTimes.contains($0.time) }.flatMap(Self.traces))
        for epoch in hidden {
            let found = Self.traces(of: epoch).filter { everything.contains($0) && !open.contains($0) }
            #expect(found.isEmpty, "\(epoch.time) can be read as \(found)")
            #expect(!stored.contains(epoch.time.millisecondsSince1970), "\(epoch.time) is in the outbox")
            #expect(!delivered.contains("\(epoch.time)"), "\(epoch.time) was delivered")
        }
        for epoch in reportedEpochs {
            let isFound = Self.traces(of: epoch).contains { everything.contains($0) }
            #expect(isFound, "the search does not find \(epoch.time), which was reported")
        }
        #expect(
            reportedEpochs.contains { stored.contains($0.time.millisecondsSince1970) },
            "the search finds nothing stored")
    }

    /// Returns degrees with four decimals, both truncated and rounded, of the epoch's position as a point and in NMEA's
    /// minutes.
    private static func traces(of epoch: DriveEpoch) -> [String] {
        guard let fix = epoch.truth else { return [] }
        return [fix.latitude, fix.longitude].flatMap { degrees -> [String] in
            let tenThousandths = [Int((degrees * 1e4).rounded(.down)), Int((degrees * 1e4).rounded())]
            let minutes = (degrees - degrees.rounded(.down)) * 60
            let wholeMinutes = Int(minutes)
            let thousandths = Int(((minutes - Double(wholeMinutes)) * 1000).rounded(.down))
            let sentence =
                "\(Int(degrees))\(wholeMinutes < 10 ? "0" : "")\(wholeMinutes)."
                + String(thousandths + 1000).dropFirst()
            return tenThousandths.map { "\($0 / 10_000)." + String($0 % 10_000 + 10_000).dropFirst() } + [sentence]
        }
    }

    /// Returns the contents of all files in the directory as text, including the outbox and the recording.
    private static func contents(ofFilesBelow directory: String) throws -> String {
        var text = ""
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let path = "\(directory)/\(name)"
            var isDirectory = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            if isDirectory {
                text += try contents(ofFilesBelow: path)
            } else if name != "config.json", name != "arrivals" {
                text += String(
                    decoding: FileManager.default.contents(atPath: path) ?? Data(), as: Unicode.ASCII.self)
            }
        }
        return text
    }

    /// Returns every number in the text with at least three decimals, cut to three and to four decimals.
    private static func numbers(in text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        func isDigit(_ index: Int) -> Bool {
            bytes.indices.contains(index) && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index])
        }
        var numbers: Set<String> = []
        for point in bytes.indices where bytes[point] == UInt8(ascii: ".") {
            var start = point
            while isDigit(start - 1) { start -= 1 }
            for count in 3...4 where start < point && (1...count).allSatisfy({ isDigit(point + $0) }) {
                numbers.insert(String(decoding: bytes[start...point + count], as: UTF8.self))
            }
        }
        return numbers
    }

    /// Returns the numbers in an outbox's file that may be times of this drive: SQLite stores milliseconds in six
    /// bytes.
    private static func times(in file: [UInt8]) -> Set<Int64> {
        let plausible = Int64(1_500_000_000_000)...Int64(2_500_000_000_000)
        var times: Set<Int64> = []
        var value: Int64 = 0
        for byte in file {
            value = (value << 8 | Int64(byte)) & 0xFFFF_FFFF_FFFF
            if plausible.contains(value) { times.insert(value) }
        }
        return times
    }
}
