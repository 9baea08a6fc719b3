import BenchmarkReport
import GNSS
import GNSSReceiver
import LinuxPlatform
import Reporting
import TimeAndRandomness
import WaypostTestSupport

/// A measurement of the time from just before the last useful byte of an epoch is written to the line until its fix is
/// delivered. It includes the tty, the thread, the decoder, the mailbox and the task.
enum FixLatency {
    /// The number of epochs before the measurement, in which the receiver's last sentence is learned.
    private static let warmUp = 5

    private struct Measurement {
        var sent: [Int64: ContinuousClock.Instant] = [:]
        var samples = Samples()
    }

    static func measure(_ drive: PacedDrive) async throws -> Samples {
        let line = PacedLine(terminal: try PseudoTerminal(), drive: drive)
        let receiver = LiveReceiver.serial(device: line.terminal.path, baudRate: .fixed(drive.baudRate))
        let measurement = Locked(Measurement())
        let (openings, opened) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return try await withThrowingTaskGroup { group in
            group.addTask {
                do throws(FixSourceError) {
                    try await receiver.run { event in
                        let now = ContinuousClock.now
                        switch event {
                        case .fix(let fix):
                            measurement.withLock { measurement in
                                let sent = measurement.sent.removeValue(forKey: fix.timeOfFix.millisecondsSince1970)
                                if let sent { measurement.samples.append(sent.duration(to: now)) }
                            }
                        case .state: opened.yield()
                        case .warning, .sky, .progress: break
                        }
                    }
                } catch {
                    guard error.code == .cancelled else { throw error }
                }
            }
            for await _ in openings { break }
            let failure = await onThread(named: "paced-line") { () -> SystemError? in
                do throws(SystemError) {
                    try line.run { number in
                        guard number >= warmUp else { return }
                        let time = drive.epochs[number].time.millisecondsSince1970
                        measurement.withLock { $0.sent[time] = .now }
                    }
                    return nil
                } catch { return error }
            }
            if let failure { throw failure }
            group.cancelAll()
            try await group.waitForAll()
            return measurement.withLock { $0.samples }
        }
    }
}
