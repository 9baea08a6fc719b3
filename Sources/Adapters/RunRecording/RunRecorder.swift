package import GNSS
import GNSSReceiver
package import LinuxPlatform
package import Reporting
package import TimeAndChance

/// Records a run: the receiver's bytes with the times at which they were read, and the log.
///
/// If privacy is configured, the recorder keeps nothing while the vehicle is private or may be private. Everything is
/// collected in memory; the thread `run-recorder` writes it.
package final class RunRecorder: ReportingObserver, ReceiverTap {
    private struct State {
        var backlog = RecordingBacklog()
        /// The reads whose fixes haven't been judged yet; `nil` if the vehicle is never private.
        var unjudged: UnjudgedReads?
    }

    private let now: @Sendable () -> UTCTime
    private let state = Locked(State())

    /// Creates a recorder that takes its times from `now`, the host's clock.
    package init(now: @escaping @Sendable () -> UTCTime) { self.now = now }

    /// Stops recording within `zones` and, if there is a private switch, while that switch is on.
    package func keepPrivate(in zones: [PrivateZone], hasSwitch: Bool) {
        state.withLock { state in
            let isPrivateAtTimes = hasSwitch || !zones.isEmpty
            guard isPrivateAtTimes || state.unjudged != nil else { return }
            state.backlog.breakOff()
            state.unjudged = isPrivateAtTimes ? UnjudgedReads(zones: zones) : nil
        }
    }

    package func lineOpened() {
        state.withLock { state in
            state.unjudged?.recordOpening()
            if state.unjudged == nil { state.backlog.breakOff() }
        }
    }

    package func received(_ bytes: Span<UInt8>) {
        let read = RecordedRead(at: now(), bytes: bytes.indices.map { bytes[$0] })
        state.withLock { state in
            if state.unjudged == nil {
                state.backlog.add(read)
            } else {
                state.unjudged?.add(read)
            }
        }
    }

    package func fixMade(_ fix: Fix) {
        let now = now()
        state.withLock { $0.unjudged?.recordFix(fix, at: now) }
    }

    package func observe(_ event: ReportingEvent) {
        state.withLock { state in
            switch event {
            case .fix(let fix), .rejected(let fix, _):
                for reads in state.unjudged?.release(until: fix) ?? [] {
                    if let reads { reads.forEach { state.backlog.add($0) } } else { state.backlog.breakOff() }
                }
            case .withheld, .privateModeBegan, .privateModeEnded: state.unjudged?.forget()
            default: break
            }
        }
    }

    /// Records `logLine`, which must be one printable line without a timestamp.
    package func note(logLine: String) {
        let now = now()
        state.withLock { state in
            if state.unjudged?.isKnownPublic ?? true { state.backlog.add(logLine: logLine, at: now) }
        }
    }

    /// Removes and returns the data to write; `nil` if there is none.
    func takeBacklog() -> RecordingBacklog.Contents? { state.withLock { $0.backlog.take() } }
}

extension RunRecorder {
    /// Writes the recording until the task is cancelled. Returns the reason if the recording ended earlier, such as a
    /// full disk.
    package func write(_ settings: RecordingSettings) async -> SystemError? {
        do throws(SystemError) {
            let stop = try EventDescriptor()
            return await withTaskCancellationHandler {
                await onThread(named: "run-recorder") { [self] in
                    do throws(SystemError) { try write(settings, unless: stop) } catch { return error }
                    return nil
                }
            } onCancel: {
                stop.signal()
            }
        } catch { return error }
    }

    /// Blocks until stopped, and then writes what is left.
    private func write(_ settings: RecordingSettings, unless stop: EventDescriptor) throws(SystemError) {
        var files = try RecordingFiles(settings, start: now(), isSynchronized: UTCTime.synchronizedSystem != nil)
        var isStopped = false
        repeat {
            isStopped = try poll(nil, within: RecordingSettings.flushInterval, unless: stop) == .stopped
            if let contents = takeBacklog() { try files.write(contents) }
        } while !isStopped
    }
}
