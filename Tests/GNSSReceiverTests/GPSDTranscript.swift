import GNSS
import LinuxPlatform
import Reporting
import WaypostTestSupport

@testable import GNSSReceiver

/// The output of the real gpsd for the bytes of a recorded receiver.
enum GPSDTranscript {
    /// The position of a ship, which ends the input. gpsd reports it at once.
    private static let endSentence = "!AIVDM,1,1,,A,15MgK45P3@G?fl0E`JbR0OwT0@MS,0*4E\r\n"
    /// A part of gpsd's report of `endSentence`, which ends a transcript.
    private static let endReportPart = "\"mmsi\":366730000"

    /// Returns gpsd's output for `bytes`, which are sent as fast as gpsd reads them.
    static func output(for bytes: [UInt8]) async throws -> [UInt8] {
        let daemon = try GPSDaemon()
        let terminal = try PseudoTerminal()
        let decoder = RecordingDecoder()
        let receiver = LiveReceiver(
            endpoint: GPSDEndpoint(host: "127.0.0.1", port: daemon.port), decoder: decoder, timeout: .seconds(60))
        try await observe(receiver) { observer in
            await observer.state(saying: "has no receiver")
            try await daemon.add(terminal.path)
            await observer.state(saying: "connected")  // gpsd has a receiver now
            await onThread(named: "feeding") { try? terminal.send(bytes + Array(endSentence.utf8)) }
            for await _ in decoder.end {}
        }
        return decoder.received.withLock { $0 }
    }

    /// A decoder that also records gpsd's output.
    private struct RecordingDecoder: LineDecoder {
        let received = Locked<[UInt8]>([])
        /// A stream that finishes at the end of the transcript.
        let end: AsyncStream<Never>
        private let endContinuation: AsyncStream<Never>.Continuation
        private var decoder = GPSDDecoder()

        init() { (end, endContinuation) = AsyncStream.makeStream() }

        mutating func decode(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
            let isComplete = received.withLock { received in
                for index in bytes.indices { received.append(bytes[index]) }
                return String(decoding: received.suffix(4096 + bytes.count), as: UTF8.self).contains(
                    GPSDTranscript.endReportPart)
            }
            if isComplete { endContinuation.finish() }
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
