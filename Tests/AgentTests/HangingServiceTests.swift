import FoundationEssentials
import Glibc
import LinuxPlatform
import ReceiverSimulator
import Reporting
import SQLiteOutbox
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// `waypost run` in a hanging environment: it stays alive, reports what it waits for, and notifies the service manager.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HangingService {
    @Test func continuesAndReportsWhyItWaits() async throws {
        let bench = try ServiceBench()
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        // The feeder is stopped: its socket accepts the connection, but sends nothing.
        let feeder = try LoopbackSocket(.stream)
        let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"]) {
            $0.receiver = #"{"type": "tcp", "host": "127.0.0.1", "port": \#(feeder.port)}"#
            $0.authorization = #"{"type": "command", "command": ["/bin/sleep", "1000"], "timeoutSeconds": 1}"#
        }
        #expect(await service.errors.line(saying: "silent for at least 5 s") != nil)
        let beats = manager.messages.lines.filter { $0.text == "WATCHDOG=1" }.count
        #expect(await manager.messages.line(saying: "WATCHDOG=1", times: beats + 3) != nil)

        // A position arrives at last, and the token command never ends by itself.
        let connection = try feeder.accept()
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try connection.send(String(decoding: epoch.sentences, as: UTF8.self))
        #expect(await service.errors.line(saying: "accepted update 1") != nil)
        #expect(await service.errors.line(saying: "took longer than 1 s and was killed") != nil)
        #expect(
            await manager.messages.line(saying: "token source failed: token command /bin/sleep took longer") != nil
        )
        #expect(!service.errors.text.contains("ends itself"), "none of these waits is a stalled stage")
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test func reportsFromMemoryUntilTheOutboxOpens() async throws {
        let bench = try ServiceBench()
        let pending = UTCTime.system.advanced(by: .seconds(-600))
        let hang = try await Self.makeHangingOutbox(in: bench.directory, updateAt: pending)
        let manager = try NotifySocket(at: bench.directory.path("notify"))
        let feeder = try LoopbackSocket(.stream)
        let service = try bench.start(environment: ["NOTIFY_SOCKET": manager.path]) {
            $0.receiver = #"{"type": "tcp", "host": "127.0.0.1", "port": \#(feeder.port)}"#
        }
        #expect(await service.errors.line(saying: "the outbox is not open yet; sending from memory only") != nil)
        #expect(await manager.messages.line(saying: "READY=1") != nil)
        #expect(await manager.messages.line(saying: "the outbox is not open yet; sending from memory only") != nil)
        let page = await RawExchange.get("/page.json", from: try await service.statusAddress())
        #expect(page.body.contains("the outbox is not open yet"), "the page is served, and states the reason")
        let connection = try feeder.accept()
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try connection.send(String(decoding: epoch.sentences, as: UTF8.self))
        #expect(await bench.arrival(of: epoch) != nil)
        #expect(!service.errors.text.contains("accepted update"))

        _ = consume hang
        #expect(await service.errors.line(saying: "outbox accepts updates again") != nil)
        #expect(await bench.arrivals.line(saying: "\"time\":\"\(pending)\"") != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(service.errors.lines.last?.text.hasSuffix("stopped") == true)
    }

    @Test func stopsWhileTheOutboxHangs() async throws {
        let bench = try ServiceBench()
        let hang = try await Self.makeHangingOutbox(in: bench.directory, updateAt: .system)
        let service = try bench.start()
        #expect(await service.errors.line(saying: "the outbox is not open yet; sending from memory only") != nil)
        let stop = await service.terminate()
        #expect(stop.ending == .exited(0))
        #expect(stop.took < .seconds(8), "\(stop.took)")
        #expect(await service.errors.line(saying: "outbox unusable: the outbox does not answer") != nil)
        _ = consume hang
    }

    /// Creates an outbox with an update of `time` whose opening hangs, as on a failing disk, until the descriptor is
    /// released. The kernel blocks a process that opens the outbox's log for writing until the holder of a lease agrees
    /// (fcntl(2)).
    static func makeHangingOutbox(
        in directory: TemporaryDirectory, updateAt time: UTCTime
    ) async throws -> OwnedDescriptor {
        let original = directory.path("original.sqlite")
        let outbox = try await SQLiteOutbox.open(
            OutboxConfiguration(path: original, maximumBytes: 1 << 20))
        _ = try await outbox.append(LocationUpdate(timeOfFix: time, latitude: 50, longitude: 10))
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: original + suffix, toPath: directory.path("outbox.sqlite" + suffix))
        }
        try await outbox.close()
        let log = try OwnedDescriptor(opening: directory.path("outbox.sqlite-wal"), O_RDONLY)
        signal(SIGIO, SIG_IGN)  // the signal by which the kernel asks the holder to release the lease
        let F_SETLEASE: CInt = 1024
        try valueOrSystemError("lease") { fcntl(log.raw, F_SETLEASE, CInt(F_RDLCK)) }
        return log
    }

    /// The disk below the journal hangs, and the manager waits for the journal.
    @Test func continuesIfTheManagerAndTheJournalReadNothing() async throws {
        let bench = try ServiceBench()
        let path = bench.directory.path("notify")
        let manager = try NotifySocket.bound(to: path)
        let notifier = ServiceNotifier(socketPath: path)
        #expect(throws: SystemError(call: "notify \(path)", number: EAGAIN)) {
            for _ in 0..<100_000 { try notifier.send(["X=1"]) }
        }
        let pipe = bench.directory.path("journal")
        let journal = try Self.makeFullPipe(at: pipe)

        let feeder = try LoopbackSocket(.stream)
        let configuration = try bench.configure {
            $0.receiver = #"{"type": "tcp", "host": "127.0.0.1", "port": \#(feeder.port)}"#
        }
        let service = try RunningProgram(
            ["/bin/sh", "-c", #"exec "$0" run --config "$1" 2>"$2""#, BuiltProgram.waypost, configuration, pipe],
            environment: BuiltProgram.environment.merging(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"]) { $1 })
        let connection = try feeder.accept()
        let epoch = try #require(RecentDrive(epochs: 1).first { _ in true })
        try connection.send(String(decoding: epoch.sentences, as: UTF8.self))
        #expect(await bench.arrival(of: epoch) != nil)

        // The manager and the journal wake up, and have missed nothing.
        let messages = try NotifySocket(at: path, reading: manager).messages
        #expect(await messages.line(saying: "READY=1") != nil)
        let lines = try LineFlow(reading: journal)
        #expect(await lines.line(saying: "reports providers/p/vehicles/van-7") != nil)
        #expect(await lines.line(saying: "accepted update 1") != nil)
        #expect(await service.terminate().ending == .exited(0))
        #expect(await messages.line(saying: "STOPPING=1") != nil)
    }

    /// The first signal suffices, whatever blocks the command. Here, a reader that doesn't read the output blocks it.
    @Test func endsAtTheFirstSignalIfItsOutputIsNotRead() async throws {
        let directory = try TemporaryDirectory()
        let pipe = directory.path("output")
        let reader = try Self.makePipe(at: pipe)
        let log = Fixtures.url("nmea/town.nmea").path
        let program = try RunningProgram(
            ["/bin/sh", "-c", #"exec "$0" fixes "$1" >"$2""#, BuiltProgram.waypost, log, pipe],
            environment: BuiltProgram.environment)
        // No two pieces of the output fit into the pipe, so the program is now writing one.
        try await yieldTurns { try Self.isFull(reader) }
        #expect(await program.terminate().ending == .exited(128 + SIGTERM))
        #expect(program.errors.text == "waypost: the shutdown took longer than 9.5 seconds and was aborted")
        _ = consume reader
    }

    /// Creates a named pipe that is full. Returns its end for reading.
    private static func makeFullPipe(at path: String) throws -> OwnedDescriptor {
        let reader = try makePipe(at: path)
        #expect(throws: SystemError(call: "write", number: EAGAIN)) {
            while true { try reader.writeAll([UInt8](repeating: UInt8(ascii: "."), count: 4096).span) }
        }
        return reader
    }

    /// Creates a named pipe. Returns a descriptor for reading and for writing without blocking.
    private static func makePipe(at path: String) throws -> OwnedDescriptor {
        try valueOrSystemError("make pipe") { unsafe mkfifo(path, 0o600) }
        return try OwnedDescriptor(opening: path, O_RDWR | O_NONBLOCK)
    }

    private static func isFull(_ pipe: borrowing OwnedDescriptor) throws -> Bool {
        var watched = pollfd(fd: pipe.raw, events: CShort(POLLOUT), revents: 0)
        return try valueOrSystemError("poll") { unsafe poll(&watched, 1, 0) } == 0
    }
}
