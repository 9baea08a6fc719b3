import FoundationEssentials
import GNSS
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import RunRecording

@Suite struct RunRecorders {
    static let start = UTCTime(year: 2026, month: 11, day: 21)
    let now = Locked(start)
    let recorder: RunRecorder

    init() { recorder = RunRecorder(now: { [now] in now.withLock { $0 } }) }

    private func wait(milliseconds: Int64) {
        now.withLock { $0 = $0.advanced(by: .milliseconds(milliseconds)) }
    }

    private func read(_ text: String) { recorder.bytesReceived(Array(text.utf8).span) }

    /// Returns the receiver's bytes and the log since the last call.
    private func takeOutput() -> (receiver: String, log: String) {
        let contents = recorder.takeBacklog()
        return (
            String(decoding: contents?.receiver ?? [], as: UTF8.self),
            String(decoding: contents?.log ?? [], as: UTF8.self)
        )
    }

    /// A time is written only before a sentence, and at least a quarter of a second after the previous time.
    @Test func recordTheTimesOfReads() {
        recorder.lineOpened()
        read("$A")
        wait(milliseconds: 300)
        read("B\r\n$C\r\n")
        wait(milliseconds: 100)
        read("$D\r\n\u{1}\n")
        wait(milliseconds: 300)
        read("\u{2}\n\u{3}$\r\n{\"class\":\"TPV\"}\r\n$E")
        recorder.lineOpened()
        read("$F\r\n")
        #expect(
            takeOutput().receiver == """
                # 2026-11-21T00:00:00.000Z
                $AB\r
                # 2026-11-21T00:00:00.300Z
                $C\r
                $D\r
                \u{1}
                \u{2}
                \u{3}$\r
                # 2026-11-21T00:00:00.700Z
                {"class":"TPV"}\r
                $E
                # 2026-11-21T00:00:00.700Z
                $F\r

                """)
        #expect(recorder.takeBacklog() == nil)
    }

    @Test func recordTheLog() {
        recorder.record(logLine: "info: started")
        wait(milliseconds: 1500)
        recorder.record(logLine: "debug: accepted update 1")
        #expect(
            takeOutput().log == """
                2026-11-21T00:00:00.000Z info: started
                2026-11-21T00:00:01.500Z debug: accepted update 1

                """)
    }

    @Test func dropBytesIfTheDiskIsSlow() {
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        for _ in 0..<100 { recorder.bytesReceived(block.span) }
        #expect(takeOutput().receiver.utf8.count <= RecordingBacklog.maximumBytes)
        recorder.record(logLine: "info: on")
        #expect(
            takeOutput().log == """
                2026-11-21T00:00:00.000Z warning: 85 entries not recorded: the disk was too slow
                2026-11-21T00:00:00.000Z info: on

                """)
    }

    static func names(in directory: String) throws -> [String] { try FileSystem.names(inDirectory: directory).sorted() }

    private static func contents(_ receiver: String, log: String = "") -> RecordingBacklog.Contents {
        RecordingBacklog.Contents(receiver: Array(receiver.utf8), log: Array(log.utf8))
    }

    @Test func keepTheNewestFilesAndContinueAfterARestart() throws {
        let directory = try TemporaryDirectory()
        let drivePath = directory.path("drive")
        let settings = RecordingSettings(directory: drivePath, version: "0.1.0", segmentBytes: 400, segments: 2)
        let text = String(repeating: "a", count: 100)
        var files = try RecordingFiles(settings, start: Self.start, isSynchronized: true)
        for _ in 0..<6 { try files.write(Self.contents(text, log: text)) }
        #expect(
            try Self.names(in: drivePath) == [
                "log-000002.txt", "log-000003.txt", "receiver-000002.nmea", "receiver-000003.nmea",
            ])
        files = try RecordingFiles(settings, start: Self.start, isSynchronized: false)
        try files.write(Self.contents("", log: "on\n"))
        #expect(try Self.names(in: drivePath) == ["log-000003.txt", "log-000004.txt", "receiver-000003.nmea"])
        let path = drivePath + "/log-000004.txt"
        #expect(
            String(decoding: try BoundedFile.contents(of: path, limit: 1000), as: UTF8.self)
                == "# waypost 0.1.0, run of 2026-11-21T00:00:00.000Z, host's clock not synchronised\non\n")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: drivePath)[.posixPermissions] as? Int == 0o700)
    }

    /// The second file starts with a sentence, so that both files can be decoded.
    @Test func splitFilesBetweenEpochs() throws {
        let directory = try TemporaryDirectory()
        let settings = RecordingSettings(directory: directory.path("drive"), version: "0.1.0", segmentBytes: 10)
        var files = try RecordingFiles(settings, start: Self.start, isSynchronized: true)
        read("$A\r\n$B")
        try files.write(try #require(recorder.takeBacklog()))
        wait(milliseconds: 1000)
        read("B\r\n$C\r\n")
        try files.write(try #require(recorder.takeBacklog()))
        let parts = try (1...2).map { number in
            let bytes = try BoundedFile.contents(of: directory.path("drive/receiver-00000\(number).nmea"), limit: 1000)
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1).last ?? ""
        }
        #expect(
            parts == ["# 2026-11-21T00:00:00.000Z\n$A\r\n$BB\r\n", "# 2026-11-21T00:00:01.000Z\n$C\r\n"])
    }

    /// The recorder doesn't continue the numbers of files that only look like its own.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1000000000", "0"])
    func ignoreFilesWithInvalidNumbers(number: String) throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("".utf8, to: "log-\(number).txt")
        let settings = RecordingSettings(directory: directory.path(""), version: "0.1.0")
        var files = try RecordingFiles(settings, start: Self.start, isSynchronized: true)
        try files.write(Self.contents("a"))
        #expect(try Self.names(in: directory.path("")) == ["log-\(number).txt", "receiver-000001.nmea"])
    }

    @Test(arguments: [
        ("/proc/none", "create directory /proc/none: No such file or directory"),
        ("/dev/null", "open directory /dev/null: Not a directory"),
    ])
    func returnTheReasonIfTheyCannotWrite(directory: String, reason: String) async {
        let error = await recorder.writeRecording(RecordingSettings(directory: directory, version: "0.1.0"))
        #expect(error?.description == reason)
    }

    /// The message names the file, whatever error the disk reports.
    @Test(.enabled(if: TinyFileSystem.isAllowed, "mounting a small file system needs root"))
    func nameTheFileOnAFullDisk() throws {
        let directory = try TemporaryDirectory()
        let disk = try TinyFileSystem(at: directory.path("disk"), megabytes: 1)
        let drivePath = directory.path("disk/drive")
        let settings = RecordingSettings(directory: drivePath, version: "0.1.0")
        var files = try RecordingFiles(settings, start: Self.start, isSynchronized: true)
        try files.write(Self.contents("a", log: "b"))
        try disk.fill()
        let text = String(repeating: "a", count: 100_000)
        let error = #expect(throws: SystemError.self) { try files.write(Self.contents(text)) }
        #expect(error?.description == "write \(drivePath)/receiver-000001.nmea: No space left on device")
    }
}
