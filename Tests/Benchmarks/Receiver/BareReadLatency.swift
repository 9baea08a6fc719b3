import BenchmarkReport
import LinuxPlatform
import WaypostTestSupport

/// A reference: a thread that polls and reads the same bytes, and records when the last useful byte of an epoch
/// arrives.
enum BareReadLatency {
    private struct Measurement {
        var sent: [ContinuousClock.Instant] = []
        var samples = Samples()
    }

    static func measure(_ drive: PacedDrive) async throws -> Samples {
        let line = PacedLine(terminal: try PseudoTerminal(), drive: drive)
        let reader = try SerialLine(path: line.terminal.path, baudRate: drive.baudRate)
        let stop = try EventDescriptor()
        let measurement = Locked(Measurement())
        async let reading: Void = onThread(named: "bare-reader") {
            read(reader, of: drive, recordingIn: measurement, unless: stop)
        }
        let failure = await onThread(named: "paced-line") { () -> SystemError? in
            do throws(SystemError) {
                try line.run { _ in measurement.withLock { $0.sent.append(.now) } }
                return nil
            } catch { return error }
        }
        stop.signal()
        await reading
        if let failure { throw failure }
        return measurement.withLock { $0.samples }
    }

    private static func read(
        _ line: SerialLine, of drive: PacedDrive, recordingIn measurement: Locked<Measurement>,
        unless stop: EventDescriptor
    ) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var (epoch, count) = (0, 0)
        while case .ready? = try? poll(line.raw, within: nil, unless: stop) {
            var span = buffer.mutableSpan
            guard let added = try? line.read(into: &span) else { return }
            let now = ContinuousClock.now
            count += added
            while epoch < drive.epochs.count, count >= drive.epochs[epoch].usefulBytes {
                let number = epoch
                measurement.withLock { $0.samples.append($0.sent[number].duration(to: now)) }
                // The rest of this epoch is read before the next one starts.
                count -= drive.epochs[epoch].bytes.count
                epoch += 1
            }
        }
    }
}
