import FleetEngineSimulator
import FoundationEssentials
import GNSS
import LinuxPlatform
import ReceiverSimulator
import StrictJSON
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import SQLiteOutbox

/// A drive of which some is private: by a switch, in a zone, and at the start. Everything that is written, sent and
/// shown is searched for every coordinate of that.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isActive, "starts the program many times, which takes seconds under a sanitizer")
)
struct PrivateDrives {
    let bench: ServiceBench
    let epochs = Array(RecentDrive(epochs: 30))

    init() throws { bench = try ServiceBench() }

    private var switchPath: String { bench.folder.path("private") }

    /// Degrees to four decimals, cut off and rounded, as a point and as NMEA's minutes.
    private func traces(of epoch: DriveEpoch) -> [String] {
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

    /// What the files of the folder hold, outbox, recording and all, as text.
    private func files(below folder: String) throws -> String {
        var text = ""
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let path = "\(folder)/\(name)"
            var isFolder = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if isFolder {
                text += try files(below: path)
            } else if name != "config.json", name != "arrivals" {
                text += String(
                    decoding: FileManager.default.contents(atPath: path) ?? Data(), as: Unicode.ASCII.self)
            }
        }
        return text
    }

    /// Every number of the text that has three decimals at least, with three and with four of them.
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

    /// Whether the outbox's files hold the time of the fix, as a record has it.
    private static func isStored(_ epoch: DriveEpoch, in files: [UInt8]) -> Bool {
        var writer = RecordWriter()
        writer.write(epoch.time.millisecondsSince1970)
        return files.firstRange(of: writer.bytes) != nil
    }

    /// One after the other, as the receiver hands on the newest alone.
    private func send(_ epoch: DriveEpoch, _ receiver: PluggedReceiver) async throws {
        try receiver.send(epoch)
        try await Task.sleep(for: .milliseconds(100))
    }

    private func state(_ address: LocalAddress) async throws -> JSONValue {
        let answer = await RawExchange.get("/status", from: address)
        return try JSONValue(parsing: Array(answer.text.utf8.drop { $0 != UInt8(ascii: "{") }))
    }

    private func waitUntilPrivate(_ isPrivate: Bool, _ address: LocalAddress) async throws {
        for _ in 0..<500 where (try await state(address)["privateSeconds"] != nil) != isPrivate {
            try await Task.sleep(for: .milliseconds(20))
        }
        let isSo = try await state(address)["privateSeconds"] != nil
        #expect(isSo == isPrivate)
    }

    @Test func leavesNoTrace() async throws {
        let centre = try #require(epochs[22].truth)
        _ = try bench.folder.write([], to: "private")
        let receiver = try PluggedReceiver(link: bench.devicePath)
        let config = try bench.configure {
            $0.status = "unix:" + bench.folder.path("status")
            $0.reporting = """
                "privateZones": [{"latitude": \(centre.latitude), "longitude": \(centre.longitude), "radiusMeters": 300}]
                """
            $0.vehicle = #""privateWhen": "\#(switchPath)""#
        }
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config, "--record", bench.folder.path("recording")],
            environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        let address = try await service.statusAddress()
        var shown = ""
        var stored: [UInt8] = []
        func look(_ commands: [[String]] = [["status"], ["outbox", "export"]]) async throws {
            for path in ["/status", "/metrics", "/healthz", "/", "/page.json", "/map"] {
                shown += await RawExchange.get(path, from: address).text
            }
            // What has been delivered is overwritten in time.
            for suffix in ["", "-wal"] {
                stored += FileManager.default.contents(atPath: bench.folder.path("outbox.sqlite" + suffix)) ?? Data()
            }
            for words in commands {
                let outcome = try await BuiltProgram.run(words + ["--config", config])
                shown += String(decoding: outcome.standardOutput + outcome.standardError, as: UTF8.self)
            }
        }

        // Private from the start.
        try await waitUntilPrivate(true, address)
        for epoch in epochs[0..<3] { try receiver.send(epoch) }
        try #require(await service.errors.line(saying: "vehicle is OFFLINE") != nil)
        try await look()
        let why = try await BuiltProgram.run(["why", "--config", config])
        #expect(why.ending == .exited(0))
        #expect(String(decoding: why.standardOutput, as: UTF8.self).contains("The vehicle is private since"))
        #expect(await bench.vehicle?.vehicleState == "OFFLINE")
        #expect(await bench.vehicle?.lastLocations == 0)

        // On the road.
        try FileManager.default.removeItem(atPath: switchPath)
        try await waitUntilPrivate(false, address)
        for epoch in epochs[3..<10] { try await send(epoch, receiver) }
        try #require(await bench.arrival(of: epochs[9]) != nil)
        #expect(await bench.vehicle?.vehicleState == "ONLINE")

        // By its switch.
        _ = try bench.folder.write([], to: "private")
        for epoch in epochs[10..<14] { try await send(epoch, receiver) }
        try await waitUntilPrivate(true, address)
        try await look([["bundle", "-o", "-", "--with-positions"]])
        try FileManager.default.removeItem(atPath: switchPath)
        try await waitUntilPrivate(false, address)

        // Through the zone, until the end.
        var isInZone: [Bool] = []
        for epoch in epochs[14..<30] {
            let distance = try #require(epoch.truth).distance(to: centre)
            isInZone.append(distance <= 300)
            try await send(epoch, receiver)
            if epoch.time == epochs[22].time {
                try await waitUntilPrivate(true, address)
                try await look()
            }
        }
        try #require(isInZone.contains(true) && isInZone.last == false)
        try #require(await bench.arrival(of: epochs[29]) != nil)
        try await look()
        #expect(await service.terminate().ending == .exited(0))

        let log = service.errors.text
        #expect(log.components(separatedBy: "the vehicle is private: ").count == 4)
        #expect(log.components(separatedBy: "the vehicle is private no more").count == 4)
        let sent = try #require(await bench.vehicle).track.map { "\($0.latitude) \($0.longitude)\n" }.joined()
        let everything = Self.numbers(in: try files(below: bench.folder.url.path) + shown + log + sent)
        let hidden = epochs[0..<3] + epochs[10..<14] + zip(epochs[14..<30], isInZone).filter(\.1).map(\.0)
        let open = epochs[4..<10] + epochs[28..<30]
        // A street may come back to the latitude of a private place.
        let openTraces = Set(epochs.filter { epoch in !hidden.contains { $0.time == epoch.time } }.flatMap(traces))
        for epoch in hidden {
            for trace in traces(of: epoch) where !openTraces.contains(trace) {
                let isThere = everything.contains(trace)
                #expect(!isThere, "\(epoch.time) can be read as \(trace)")
            }
            #expect(!Self.isStored(epoch, in: stored))
            let isDelivered = await bench.vehicle?.deliveries.keys.contains { "\($0)" == "\(epoch.time)" }
            #expect(isDelivered != true)
        }
        #expect(open.contains { Self.isStored($0, in: stored) }, "the search finds nothing in the outbox")
        // On a busy machine a newer fix overtakes one of them.
        let found = open.filter { traces(of: $0).contains { everything.contains($0) } }
        #expect(found.count > open.count / 2, "the search finds nothing of what was told")
    }
}
