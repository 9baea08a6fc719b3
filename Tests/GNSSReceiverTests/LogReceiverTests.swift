import FoundationEssentials
import GNSS
import Glibc
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct LogReceivers {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func writeLog(named name: String, seconds: ClosedRange<Int>) throws -> String {
        try directory.write(seconds.map { epoch(second: $0 % 60, minute: 15 + $0 / 60) }.joined().utf8, to: name)
    }

    private func secondsDelivered(_ events: [FixSourceEvent]) -> [Int] {
        events.compactMap { event in
            if case .fix(let fix) = event { fix.timeOfFix.millisecondOfDay / 1000 - (10 * 60 + 15) * 60 } else { nil }
        }
    }

    @Test(arguments: [50, 1000, 64 << 10])
    func deliverEveryFixInOrderWithAnyChunkSize(chunkBytes: Int) async throws {
        let paths = [try writeLog(named: "1.nmea", seconds: 0...99), try writeLog(named: "2.nmea", seconds: 100...199)]
        let ending = await observe(LogReceiver(paths: paths, chunkBytes: chunkBytes)) { observer in
            await observer.state(saying: "end of log")
            #expect(secondsDelivered(observer.seen) == Array(0...199))
            #expect(observer.seen.first == .state(.receiving(source: "2 logs")))
        }
        #expect(ending == nil)
    }

    @Test func deliverWarnings() async throws {
        let notices =
            sentence("GPTXT,01,01,01,ANTSTATUS=OPEN") + epoch(second: 1) + sentence("GPDTM,999,,0.1,N,0,E,0,W84")
        let path = try directory.write(notices.utf8, to: "1.nmea")
        await observe(LogReceiver(paths: [path])) { observer in
            await observer.state(saying: "end of log")
            #expect(observer.seen.contains(.warning(.antennaOpen)))
            #expect(observer.seen.contains(.warning(.foreignDatum)))
        }
    }

    /// The last epoch is completed only by the end of the log.
    @Test func deliverTheLastWarningOfADamagedLog() async throws {
        let text = epoch(second: 1) + sentence("GPRMC,101502.000,A,0000.0,N,00000.0,E,,,050126,,,A")
        let path = try directory.write(try gzip(Data(text.utf8), in: directory) + Data("no archive".utf8), to: "1.gz")
        let ending = await observe(LogReceiver(paths: [path])) { observer in
            while await observer.next() != nil {}
            #expect(observer.seen.contains(.warning(.nullIsland)))
        }
        #expect(ending?.code == .notALog)
    }

    @Test func readNoFasterThanFixesAreConsumed() async throws {
        let path = try writeLog(named: "1.nmea", seconds: 0...2000)
        let busy = Locked(0)
        let receiver = LogReceiver(paths: [path])
        try await receiver.run { event in
            #expect(
                busy.withLock {
                    $0 += 1; return $0
                } == 1)
            await Task.yield()
            busy.withLock { $0 -= 1 }
        }
    }

    /// A log that ends without a fix must not go unnoticed. If a warning has given the reason, the agent reports that
    /// warning.
    @Test(
        arguments: [
            (
                sentence("GPGSV,1,1,01,02,45,090,40"),
                .noFix(FixAbsence(.noPositionSentences, isRecorded: true, leftOut: nil))
            ),
            (
                "$GPRMC,101502.000,A,5231.1234,N,01323.1234,E,,,050126,,,A\r\n",
                .missingChecksums(sentences: 1, logs: 1)
            ),
            (sentence("GPRMC,101502.000,A,0000.0,N,00000.0,E,,,050126,,,A"), nil),
        ] as [(String, LogFault?)])
    func reportWhyThereIsNoFix(text: String, fault: LogFault?) async throws {
        let path = try directory.write(text.utf8, to: "1.nmea")
        let ending = await observe(LogReceiver(paths: [path])) { observer in
            while await observer.next() != nil {}
        }
        #expect(ending == fault.map { FixSourceError(log: path, $0) })
    }

    @Test func reportAMissingLogBeforeTheFirstFix() async throws {
        let paths = [try writeLog(named: "1.nmea", seconds: 0...9), directory.path("missing.nmea")]
        let ending = await observe(LogReceiver(paths: paths)) { observer in
            while await observer.next() != nil {}
            #expect(observer.seen == [])
        }
        #expect(ending == FixSourceError(log: directory.path("missing.nmea"), .notOpened(.missing)))
    }

    @Test func deliverFixesBeforeTheDamageAndThenFail() async throws {
        let archive = try gzip(
            try Data(contentsOf: URL(filePath: try writeLog(named: "1.nmea", seconds: 0...999))), in: directory)
        let path = try directory.write(archive[..<(archive.count / 2)], to: "cut.gz")
        let ending = await observe(LogReceiver(paths: [path])) { observer in
            while await observer.next() != nil {}
            let seconds = secondsDelivered(observer.seen)
            #expect(seconds.count > 100 && seconds == Array(0..<seconds.count))
        }
        #expect(ending == FixSourceError(log: path, .archiveCutShort))
    }

    @Test func endWhenCancelled() async throws {
        let path = try writeLog(named: "1.nmea", seconds: 0...2000)
        let (events, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let running = Task {
            try await LogReceiver(paths: [path]).run { _ in
                sink.yield()
                while !Task.isCancelled { await Task.yield() }
            }
        }
        for await _ in events.prefix(1) {}
        running.cancel()
        await #expect(throws: FixSourceError.self) { try await running.value }
    }

    @Test func readAPipeAndEndWhenCancelledWhileWaitingForAWriter() async throws {
        let path = directory.path("fifo")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let abandoned = await observe(LogReceiver(paths: [path])) { observer in _ = await observer.next() }
        #expect(abandoned?.code == .cancelled)

        let ending = try await observe(LogReceiver(paths: [path])) { observer in
            _ = await observer.next()
            do {
                let writer = try OwnedDescriptor(opening: path, O_RDWR)
                try writer.writeAll(Array(epoch(second: 1).utf8).span)
                try writer.writeAll(Array(epoch(second: 2).utf8).span)
                #expect(await observer.fix() != nil)
            }
            await observer.state(saying: "end of log")
            #expect(secondsDelivered(observer.seen) == [1, 2])
        }
        #expect(ending == nil)
    }
}
