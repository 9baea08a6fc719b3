import GNSS
import LinuxPlatform
import Reporting
import WaypostTestSupport

@testable import GNSSReceiver

/// The output of the real gpsd for the bytes of a recorded receiver.
enum GPSDTranscript {
    /// The position of a ship, which gpsd reports at once. This report ends a transcript.
    private static let endReport = "\"mmsi\":366730000"
    private static let end = "!AIVDM,1,1,,A,15MgK45P3@G?fl0E`JbR0OwT0@MS,0*4E\r\n"

    /// Returns gpsd's output for `bytes`, which are sent as fast as gpsd reads them.
    static func output(for bytes: [UInt8]) async throws -> [UInt8] {
        let daemon = try GPSDaemon()
        let terminal = try PseudoTerminal()
        let listener = Listener()
        let receiver = LiveReceiver(
            endpoint: GPSDEndpoint(host: "127.0.0.1", port: daemon.port), decoder: listener, timeout: .seconds(60))
        try await observe(receiver) { observer in
            await observer.state(saying: "has no receiver")
            try await daemon.add(terminal.path)
            await observer.state(saying: "connected")  // gpsd has a receiver now
            await onThread(named: "feeding") { try? terminal.send(bytes + Array(end.utf8)) }
            for await _ in listener.hasEnded {}
        }
        return listener.received.withLock { $0 }
    }

    /// A decoder that also keeps gpsd's output.
    private struct Listener: LineDecoder {
        let received = Locked<[UInt8]>([])
        let hasEnded: AsyncStream<Never>
        private let end: AsyncStream<Never>.Continuation
        private var decoder = GPSDDecoder()

        init() { (hasEnded, end) = AsyncStream.makeStream() }

        mutating func decode(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
            let isOver = received.withLock { received in
                for index in bytes.indices { received.append(bytes[index]) }
                return String(decoding: received.suffix(4096 + bytes.count), as: UTF8.self).contains(
                    GPSDTranscript.endReport)
            }
            if isOver { end.finish() }
            return decoder.decode(bytes, at: now, emit)
        }

        mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) { decoder.handleIdleLine(at: now, emit) }
        mutating func finish(_ emit: (Fix) -> Void) { decoder.finish(emit) }
        var idleDeadline: Duration? { decoder.idleDeadline }
        mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }
        mutating func takeSky(at now: Duration) -> Sky? { decoder.takeSky(at: now) }
        var obstacle: ReceiverFault? { decoder.obstacle }
        var findings: LineFindings { decoder.findings }
    }
}
