import FoundationEssentials
import GNSS
import Glibc
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import GNSSReceiver
@testable import LinuxPlatform

@Suite struct GrowthChanges {
    /// Returns the status of a file with the inode `number`.
    private static func file(_ number: UInt64, bytes: Int64, volume: UInt64 = 0) -> FileStatus {
        FileStatus(kind: .file, owner: 0, bytes: bytes, identity: FileStatus.Identity(volume: volume, number: number))
    }

    static let changes: [(Int64, FileStatus, FileStatus?, LogFileChange)] = [
        (10, file(1, bytes: 10), file(1, bytes: 10), .none), (10, file(1, bytes: 10), nil, .none),
        (10, file(1, bytes: 9), file(1, bytes: 9), .truncated),
        (10, file(1, bytes: 0), file(1, bytes: 0), .truncated), (10, file(1, bytes: 9), nil, .truncated),
        (10, file(1, bytes: 10), file(2, bytes: 0), .replaced),
        (10, file(1, bytes: 10), file(1, bytes: 10, volume: 7), .replaced),
        (10, file(1, bytes: 0), file(2, bytes: 0), .replaced), (0, file(1, bytes: 0), file(1, bytes: 0), .none),
    ]

    /// The position up to which the opened file has been read, its status, the status of the file that is now at the
    /// path, and the detected change.
    @Test(arguments: changes)
    func areDetected(offset: Int64, opened: FileStatus, current: FileStatus?, change: LogFileChange) {
        #expect(LogFileChange(readTo: offset, of: opened, current: current) == change)
    }
}

@Suite struct GrowingFiles {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("live.nmea")
    }

    private func append(_ text: String, to path: String) throws {
        try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND).writeAll(Array(text.utf8).span)
    }

    private func check(_ file: GrowingFile) throws -> (GrowingFile.CheckResult, String) {
        var buffer = [UInt8](repeating: 0, count: 100)
        var span = buffer.mutableSpan
        let result = try file.check(into: &span)
        guard case .bytes(let count) = result else { return (result, "") }
        return (result, String(decoding: buffer[..<count], as: UTF8.self))
    }

    @Test func areReadWhileTheyGrow() throws {
        try append("one", to: path)
        let file = try GrowingFile(path: path, from: .start)
        #expect(try check(file) == (.bytes(3), "one"))
        #expect(try check(file).0 == .nothingYet)
        try append("two", to: path)
        #expect(try check(file) == (.bytes(3), "two"))
    }

    @Test func areReadFromTheirEndOrAnEarlierPosition() throws {
        try append("one", to: path)
        let file = try GrowingFile(path: path, from: .end)
        #expect(try check(file).0 == .nothingYet)
        try append("two", to: path)
        let again = try GrowingFile(path: path, from: file.position)
        #expect(try check(again) == (.bytes(3), "two"))
        unsafe unlink(path)
        try append("other", to: path)
        #expect(try check(try GrowingFile(path: path, from: again.position)) == (.bytes(5), "other"))
    }

    @Test func areReadFromTheStartAfterTruncation() throws {
        try append("one", to: path)
        let file = try GrowingFile(path: path, from: .start)
        _ = try check(file)
        unsafe truncate(path, 0)
        #expect(try check(file).0 == .truncated)
        try append("x", to: path)
        #expect(try check(file) == (.bytes(1), "x"))
    }

    @Test func areReadToTheEndBeforeTheReplacementIsOpened() throws {
        try append("one", to: path)
        let file = try GrowingFile(path: path, from: .start)
        #expect(try check(file) == (.bytes(3), "one"))
        let old = directory.path("live.nmea.1")
        unsafe rename(path, old)
        #expect(try check(file).0 == .nothingYet)
        try append("last words", to: old)
        try append("new", to: path)
        #expect(try check(file) == (.bytes(10), "last words"))
        #expect(try check(file).0 == .replaced)
        #expect(try check(file) == (.bytes(3), "new"))
    }

    @Test func mayBePipesWhoseWritersComeAndGo() throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let file = try GrowingFile(path: path, from: .start)
        for text in ["one", "two"] {
            try append(text, to: path)
            #expect(try check(file) == (.bytes(3), text))
            #expect(try check(file).0 == .writersGone)
            #expect(try file.reopen())
            #expect(try poll(file.raw, within: .zero, unless: try EventDescriptor()) == .timedOut)
        }
        unsafe unlink(path)
        #expect(try !file.reopen())
    }

    /// The reader waits for a file that is missing for a moment.
    @Test(.timeLimit(.minutes(1))) func areAwaitedWhenTheirPipeIsRemoved() async throws {
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let messages = Locked([String]())
        var seconds: [Int] = []
        let reader = try LogReader(paths: [path], follows: true) { text in messages.withLock { $0.append(text) } }
        func read() async throws {
            let chunk = await reader.nextChunk()
            #expect(!chunk.isLast)
            seconds += chunk.fixes.map { $0.timeOfFix.millisecondOfDay / 1000 % 60 }
        }
        do {
            let writer = try OwnedDescriptor(opening: path, O_RDWR)
            try writer.writeAll(Array((epoch(second: 1) + epoch(second: 2)).utf8).span)
            try await read()
            unsafe unlink(path)
        }
        while seconds.count < 2 { try await read() }
        #expect(messages.withLock { $0 } == ["\(path) is gone; waiting for it"])
        try append(epoch(second: 3), to: path)
        while seconds.count < 3 { try await read() }
        #expect(seconds == [1, 2, 3])
    }

    @Test(.timeLimit(.minutes(1))) func areReadAsANewRecordingAfterTruncation() async throws {
        try append("# longer than the new content\n" + epoch(second: 1), to: path)
        let reader = try LogReader(paths: [path], follows: true)
        #expect(await reader.nextChunk().fixes.isEmpty)
        unsafe truncate(path, 0)
        try append(epoch(second: 1), to: path)
        #expect(await reader.nextChunk().fixes.count == 1)
        #expect(await reader.nextChunk().fixes.count == 1)
    }

    @Test func mustNotBeDirectoriesArchivesOrUTF16() throws {
        #expect(try GrowingFile(path: directory.url.path, from: .start).fault == .directory)
        try directory.write([0x1F, 0x8B, 8, 0], to: "log.gz")
        let archive = try GrowingFile(path: directory.path("log.gz"), from: .start)
        #expect(archive.fault == .followedArchive)
        #expect(RecordedLog.isArchive(directory.path("log.gz")) && !RecordedLog.isArchive(path))
        try directory.write([0xFF, 0xFE, 0x24, 0], to: "wide.nmea")
        let wide = try GrowingFile(path: directory.path("wide.nmea"), from: .start)
        #expect(wide.fault == .utf16(encoding: "UTF-16"))
    }
}

@Suite struct GrowingBytes {
    private var decoder = NMEADecoder()
    private var pause = GrowthPause()

    /// Decodes `text`, and returns the number of fixes.
    private mutating func decode(_ text: some StringProtocol) -> Int {
        var fixes = 0
        let bytes = Array(text.utf8)
        decoder.decode(bytes.span, receivedAt: pause.time) { _ in fixes += 1 }
        pause.recordBytes(bytes.span)
        return fixes
    }

    /// Waits for more bytes in vain for `duration`, and returns the number of fixes.
    private mutating func wait(for duration: Duration) -> Int {
        var fixes = 0
        if pause.recordWait(duration) { decoder.handleIdleLine(at: pause.time) { _ in fixes += 1 } }
        return fixes
    }

    private var timeout: Duration? { pause.timeout(until: decoder.idleDeadline) }

    @Test mutating func produceAFixAfterAPause() throws {
        #expect(decode(epoch(second: 1)) == 0)
        let timeout = try #require(self.timeout)
        #expect(timeout <= .milliseconds(250))
        #expect(wait(for: timeout - .milliseconds(1)) == 0)
        #expect(wait(for: .milliseconds(1)) == 1)
        #expect(self.timeout == nil)
    }

    /// A program that writes in blocks may stop within a sentence, and write the next block seconds later.
    @Test mutating func produceNoFixWithinASentence() {
        let text = epoch(second: 1) + epoch(second: 2)
        let cut = text.index(text.startIndex, offsetBy: 100)
        #expect(decode(text[..<cut]) == 0)
        #expect(timeout == nil)
        #expect(wait(for: .seconds(9)) == 0)
        #expect(decode(text[cut...]) == 1)
        #expect(wait(for: .seconds(1)) == 1)
    }

    /// The time that the reader spends on a chunk isn't a pause of the file's writer.
    @Test mutating func countOnlyTimeSpentWaitingAsAPause() {
        let lines = epoch(second: 1).split(separator: "\r\n").map { $0 + "\r\n" }
        #expect(decode(lines[0]) == 0)
        #expect(decode(lines[1]) == 0)
        #expect(wait(for: .seconds(1)) == 1)
    }
}

@Suite(.timeLimit(.minutes(1))) struct GrowingFileReceiving {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("live.nmea")
    }

    private func append(_ text: String) throws {
        try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND).writeAll(Array(text.utf8).span)
    }

    @Test func beginsAtTheEndOfExistingContent() async throws {
        try append(epoch(second: 1))
        let ending = try await observe(LiveReceiver.growingFile(path)) { observer in
            await observer.state(saying: "open, waiting for new lines")
            try append(epoch(second: 2))
            #expect(await observer.second() == 2)
            unsafe rename(path, path + ".1")
            try append(epoch(second: 3) + String(repeating: "# longer than the new content\n", count: 99))
            #expect(await observer.second() == 3)
            unsafe truncate(path, 0)
            try append(epoch(second: 4))
            #expect(await observer.second() == 4)
        }
        #expect(ending?.code == .cancelled)
    }

    @Test func waitsForAMissingFileAndReadsItFromTheStart() async throws {
        try await observe(LiveReceiver.growingFile(path)) { observer in
            await observer.state(saying: "does not exist; check the program that writes the file")
            try append(epoch(second: 7))
            #expect(await observer.second() == 7)
        }
    }

    @Test func reportsThatNothingIsAppended() async throws {
        try append(epoch(second: 1))
        let receiver = LiveReceiver.growingFile(path, timeout: .milliseconds(300))
        await observe(receiver) { observer in
            #expect(
                await observer.state(saying: "nothing new for at least 0 s; check the program that writes the file")
                    != nil)
        }
    }

    @Test func acceptsMissingChecksumsOnlyIfConfigured() async throws {
        try append("")
        let bare = epoch(second: 1).replacing(/\*../, with: "")
        let receiver = LiveReceiver.growingFile(path, timeout: .milliseconds(600))
        try await observe(receiver) { observer in
            await observer.state(saying: "open, waiting")
            try append(bare)
            #expect(await observer.state(saying: "set receiver.acceptMissingChecksum to true") != nil)
        }
        let tolerant = NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: true))
        try await observe(LiveReceiver.growingFile(path, decoder: tolerant)) { observer in
            await observer.state(saying: "open, waiting")
            try append(epoch(second: 2).replacing(/\*../, with: ""))
            #expect(await observer.second() == 2)
        }
    }
}
