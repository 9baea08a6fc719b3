import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite struct Recording {
    static func names(in folder: String) throws -> [String] {
        try FileSystem.names(inFolder: folder).sorted()
    }

    @Test func keepsTheNewestFilesAndGoesOnAfterARestart() throws {
        let folder = try TemporaryFolder()
        let place = folder.path("drive")
        let ends = Locked(0)
        let settings = RecordingSettings(folder: place, fileBytes: 10, files: 2) { _ in ends.withLock { $0 += 1 } }
        let line = Array("0123456789".utf8)
        let first = ReceiverRecorder(settings)
        for _ in 0..<5 { first.append(line.span) }
        #expect(try Self.names(in: place) == ["receiver-000004.nmea", "receiver-000005.nmea"])
        ReceiverRecorder(settings).append(line.span)
        #expect(try Self.names(in: place) == ["receiver-000005.nmea", "receiver-000006.nmea"])
        #expect(try Data(contentsOf: URL(filePath: place + "/receiver-000006.nmea")) == Data(line))
        #expect(ends.withLock { $0 } == 0)
    }

    @Test func endsWithAWordWhenItCannotWrite() throws {
        let words = Locked([String]())
        let settings = RecordingSettings(folder: "/proc/none") { text in words.withLock { $0.append(text) } }
        let recorder = ReceiverRecorder(settings)
        recorder.append(Array("x".utf8).span)
        #expect(words.withLock { $0.count } == 1)
        #expect(words.withLock { $0.first }?.contains("/proc/none") == true)
    }
}
