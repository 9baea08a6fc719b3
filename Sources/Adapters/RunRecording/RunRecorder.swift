package import GNSS
import GNSSReceiver
package import LinuxPlatform
package import Reporting
package import TimeAndRandomness

/// A recorder of the current run. It records the log, and the bytes from the receiver with the times at which they were
/// read.
///
/// If privacy is configured, nothing is recorded while the vehicle is private or may be private. The data is collected
/// in memory, and the thread `run-recorder` writes it to disk.
package final class RunRecorder: ReportingObserver, ReceiverTap {
    private struct State {
        var backlog = RecordingBacklog()
        /// The reads that may still turn out to be private; `nil` if privacy isn't configured.
        var unjudged: UnjudgedReads?
    }

    private let now: @Sendable () -> UTCTime
    private let state = Locked(State())

    /// Creates a recorder. `now` returns the time of the host's clock.
    package init(now: @escaping @Sendable () -> UTCTime) { self.now = now }

    /// Stops recording within `zones` and, if `hasSwitch`, while the private switch is on.
    package func setPrivacy(zones: [PrivateZone], hasSwitch: Bool) {
        state.withLock { state in
            let isPrivateAtTimes = hasSwitch || !zones.isEmpty
            guard isPrivateAtTimes || state.unjudged != nil else { return }
            state.backlog.recordGap()
            state.unjudged = isPrivateAtTimes ? UnjudgedReads(zones: zones) : nil
        }
    }

    package func lineOpened() {
        state.withLock { state in
            state.unjudged?.recordOpening()
            if state.unjudged == nil { state.backlog.recordGap() }
        }
    }

    package func bytesReceived(_ bytes: Span<UInt8>) {
        let read = RecordedRead(time: now(), bytes: bytes.indices.map { bytes[$0] })
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
                    if let reads { reads.forEach { state.backlog.add($0) } } else { state.backlog.recordGap() }
                }
            case .withheld, .privateModeBegan, .privateModeEnded: state.unjudged?.dropAll()
            default: break
            }
        }
    }

    /// Records `logLine`, which must be one printable line without a timestamp.
    package func record(logLine: String) {
        let now = now()
        state.withLock { state in
            if state.unjudged?.isKnownPublic ?? true { state.backlog.add(logLine: logLine, at: now) }
        }
    }

    /// Removes and returns the data to write; `nil` if there is none.
    func takeBacklog() -> RecordingBacklog.Contents? { state.withLock { $0.backlog.takeContents() } }
}

extension RunRecorder {
    /// Writes the recording to disk until the task is cancelled. If writing fails earlier, for example because the disk
    /// is full, returns the error.
    package func writeRecording(_ settings: RecordingSettings) async -> SystemError? {
        do throws(SystemError) {
            let stop = try EventDescriptor()
            return await withTaskCancellationHandler {
                await onThread(named: "run-recorder") { [self] in
                    do throws(SystemError) { try writeRecording(settings, unless: stop) } catch { return error }
                    return nil
                }
            } onCancel: {
                stop.signal()
            }
        } catch { return error }
    }

    /// Writes at regular intervals until `stop` is signalled, and then writes the remaining data. Blocks.
    private func writeRecording(_ settings: RecordingSettings, unless stop: EventDescriptor) throws(SystemError) {
        var files = try RecordingFiles(settings, start: now(), isSynchronized: UTCTime.synchronizedSystem != nil)
        var isStopped = false
        repeat {
            isStopped = try poll(nil, within: RecordingSettings.flushInterval, unless: stop) == .stopped
            if let contents = takeBacklog() { try files.write(contents) }
        } while !isStopped
    }
}
