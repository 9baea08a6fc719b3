import Glibc
import LinuxPlatform
import WaypostTestSupport

/// A reference: an epoch on a dedicated terminal, read by a thread that does nothing else.
///
/// The kernel forwards a terminal's bytes in a worker with normal priority, which is delayed on a busy machine.
final class BareLine: Sendable {
    /// The number of bytes read, and the time of the last read.
    private struct Received {
        var bytes = 0
        var arrivedAt = ContinuousClock.now
    }

    private let terminal: PseudoTerminal
    private let received = Locked(Received())

    init() throws {
        let terminal = try PseudoTerminal()
        self.terminal = terminal
        let line = try OwnedDescriptor(opening: terminal.path, O_RDONLY | O_NOCTTY)
        try EpochFeed.setRawMode(of: line.raw, device: terminal.path)
        let received = received
        startThread(named: "bare-line") { Self.read(from: line, recordingIn: received) }
    }

    /// Returns the time from before `epoch` is written until all of it is read.
    func latency(of epoch: [UInt8]) async throws -> Duration {
        let expected = received.withLock { $0.bytes } + epoch.count
        let sent = ContinuousClock.now
        try terminal.send(epoch)
        for _ in 0..<5000 {
            let received = received.withLock { $0 }
            if received.bytes >= expected { return sent.duration(to: received.arrivedAt) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw BenchmarkError("an epoch did not arrive at \(terminal.path) within 5 s")
    }

    private static func read(from line: borrowing OwnedDescriptor, recordingIn received: Locked<Received>) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var span = buffer.mutableSpan
            guard let count = try? line.read(into: &span), count > 0 else { return }
            let now = ContinuousClock.now
            received.withLock { $0 = Received(bytes: $0.bytes + count, arrivedAt: now) }
        }
    }
}
