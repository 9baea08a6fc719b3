package import FleetEngine
package import GNSS
package import GNSSReceiver
import Glibc
package import HTTPMessages
package import LinuxPlatform
package import LocationReporting
import TimeAndChance
package import VehicleAuthorization

/// Keeps what a run hears and decides: the receiver's bytes with their times, the outcomes of requests and token
/// fetches, the kernel's announcements of the network, and what followed from them. No token, header or body, and no
/// coordinate beyond the receiver's own sentences.
///
/// What comes is put into memory, and written by the thread `run-recorder`.
package final class RunRecorder: ReportingObserver, ReceiverTap {
    private struct State {
        /// Since when it records; `nil` while it does not.
        var begun: Duration?
        var backlog = RecordingBacklog()
        var decisions = PipelineDecisions()
        /// What is kept back until its fix is judged; `nil` where nothing is ever private.
        var unjudged: UnjudgedReads?
        var lineIsOpen = false
        var requests = 0
        var evicted: Int64 = 0

        mutating func add(_ event: RecordedEvent, at now: Duration) {
            guard let begun else { return }
            backlog.add(RecordingEntry(at: RecordedNumber(now - begun), event))
        }
    }

    private let clock: MonotonicClock
    private let progress: (any ReceiverTap)?
    private let state: Locked<State>

    /// `clock` counts from the start of the run; `progress` hears of the receiver's thread. One that `isIdle` keeps
    /// nothing until it is told to `record`.
    package init(clock: MonotonicClock, progress: (any ReceiverTap)? = nil, isIdle: Bool = false) {
        (self.clock, self.progress) = (clock, progress)
        state = Locked(State(begun: isIdle ? nil : .zero))
    }

    /// Whether anything is kept.
    package var isRecording: Bool { state.withLock { $0.begun != nil } }

    fileprivate var now: Duration { clock.now }
    fileprivate func time(since begun: Duration) -> RecordedNumber { RecordedNumber(clock.now - begun) }

    package var keepsOutput: Bool { isRecording }
    package func turned() { progress?.turned() }
    package func ended() { progress?.ended() }

    package func lineOpened() {
        state.withLock { $0.lineIsOpen = true }
        note(.lineOpened)
    }

    package func lineClosed() {
        state.withLock { state in
            state.lineIsOpen = false
            state.unjudged?.drop()
        }
        note(.lineClosed)
    }

    package func fixMade(_ fix: Fix) {
        progress?.fixMade(fix)
        state.withLock { state in
            if state.unjudged == nil { state.backlog.closeRead() }
            state.unjudged?.fixMade(fix)
        }
    }

    /// Keeps nothing that is received within `zones`, or while the vehicle is private by its switch, if it has one.
    package func keepPrivate(in zones: [PrivateZone], hasSwitch: Bool) {
        state.withLock {
            $0.unjudged = zones.isEmpty && !hasSwitch ? nil : UnjudgedReads(zones: zones)
        }
    }

    package func received(_ bytes: Span<UInt8>) {
        guard isRecording else { return }
        let now = now
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { state in
            guard let begun = state.begun else { return }
            if state.unjudged == nil { state.backlog.add(copy, at: now - begun) }
            state.unjudged?.add(copy, at: now - begun)
        }
    }

    package func observe(_ event: ReportingEvent) {
        let now = now
        state.withLock { state in
            switch event {
            case .fix(let fix), .refused(let fix, _):
                for read in state.unjudged?.release(until: fix) ?? [] { state.backlog.add(read.bytes, at: read.at) }
            case .withheld, .privateModeEnded: state.unjudged?.drop()
            default: break
            }
            if let decision = state.decisions.decision(in: event) { state.add(decision, at: now) }
        }
    }

    /// Adds what happens at this moment.
    package func note(_ event: RecordedEvent) {
        let now = now
        state.withLock { $0.add(event, at: now) }
    }

    /// Notes that a request goes out, and gives its number.
    fileprivate func noteRequest(_ purpose: HTTPRequest.Purpose) -> RecordedNumber {
        let now = now
        return state.withLock { state in
            state.requests += 1
            let number = RecordedNumber(state.requests)
            state.add(.request(number: number, purpose: purpose), at: now)
            return number
        }
    }

    /// Notes what the account says when more was evicted.
    package func note(evicted total: Int64) {
        let isNews = state.withLock { exchange(&$0.evicted, with: total) != total }
        if isNews { note(.evicted(total: RecordedNumber(total))) }
    }

    /// Draws from 0...1, and notes it.
    package func draw(of chance: RecordedEvent.Chance) -> Double {
        let value = Double.random(in: 0...1)
        note(.draw(of: chance, value: value))
        return value
    }

    /// Everything that has still to be written.
    func takeBacklog() -> (receiver: [UInt8], lines: [UInt8])? {
        state.withLock { $0.backlog.isEmpty ? nil : $0.backlog.take() }
    }
}

extension RunRecorder {
    /// Writes every few seconds until cancelled, and then what is left. A full disk is no reason to stop reporting:
    /// `reportEnd` is called once.
    package func write(_ settings: RecordingSettings, reportEnd: @escaping @Sendable (String) -> Void) async {
        guard let error = await writeUntilCancelled(settings) else { return }
        // Our own refusals bring their remedy.
        let remedy =
            if error.refusal != nil {
                ""
            } else if error.number == ENOTDIR {
                "give --record the path of a folder; "
            } else {
                "see that there is room and that this user may write, or give --record another folder; "
            }
        reportEnd(
            "the run is not recorded in \(settings.folder) from here on: \(error); \(remedy)restart to record again; "
                + "reporting continues")
    }

    /// Records for so long from now on, or until cancelled; tells what ended it before. To be called while it is idle.
    package func record(_ settings: RecordingSettings, for length: Duration) async -> SystemError? {
        let now = now
        state.withLock { state in
            (state.begun, state.backlog) = (now, RecordingBacklog())
            state.unjudged?.drop()
            if state.lineIsOpen { state.add(.lineOpened, at: now) }
        }
        defer { state.withLock { ($0.begun, $0.backlog) = (nil, RecordingBacklog()) } }
        return await withTaskGroup(of: SystemError?.self) { group in
            group.addTask { await self.writeUntilCancelled(settings) }
            group.addTask { [clock] in
                await clock.sleep(for: length)
                return nil
            }
            var failure: SystemError?
            for await end in group {
                failure = failure ?? end
                group.cancelAll()
            }
            return failure
        }
    }

    private func writeUntilCancelled(_ settings: RecordingSettings) async -> SystemError? {
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

    /// Blocks until stopped; gives everything to the disk before it returns.
    private func write(_ settings: RecordingSettings, unless stop: EventDescriptor) throws(SystemError) {
        let start = UTCTime.system
        var files = try RecordingFiles(
            settings,
            header: RunHeader(
                run: start.description, isSynchronized: UTCTime.synchronizedSystem != nil, version: settings.version))
        var isStopped = false
        repeat {
            isStopped = try poll(nil, within: RecordingSettings.flushInterval, unless: stop) == .stopped
            if let (receiver, lines) = takeBacklog() { try files.write(receiver: receiver, lines: lines) }
        } while !isStopped
    }
}

/// What a recording has still to write: bounded, in order, cheap to add to.
private struct RecordingBacklog: Sendable {
    private var receiver: [UInt8] = []
    private var lines: [UInt8] = []
    /// Reads that are not in an entry yet.
    private var read: (at: Duration, bytes: Int)?
    private var lost = 0

    /// Whether there is nothing to write.
    var isEmpty: Bool { lines.isEmpty && read == nil }

    mutating func add(_ bytes: [UInt8], at now: Duration) {
        if let read, now - read.at > RecordingSettings.readWindow { closeRead() }
        guard receiver.count + lines.count + bytes.count < RecordingSettings.longestBacklog else {
            lost += 1
            return
        }
        receiver += bytes
        read = (read?.at ?? now, (read?.bytes ?? 0) + bytes.count)
    }

    /// What is read from now on is another entry.
    mutating func closeRead() {
        guard let read else { return }
        self.read = nil
        write(RecordingEntry(at: RecordedNumber(read.at), .read(bytes: RecordedNumber(read.bytes))))
    }

    mutating func add(_ entry: RecordingEntry) {
        closeRead()
        guard receiver.count + lines.count < RecordingSettings.longestBacklog else {
            lost += 1
            return
        }
        if lost > 0 {
            write(RecordingEntry(at: entry.at, .lost(entries: RecordedNumber(lost))))
            lost = 0
        }
        write(entry)
    }

    /// Gives everything away.
    mutating func take() -> (receiver: [UInt8], lines: [UInt8]) {
        closeRead()
        defer { (receiver, lines) = ([], []) }
        return (receiver, lines)
    }

    private mutating func write(_ entry: RecordingEntry) { lines += RecordingLine.bytes(entry) }
}

/// What was read of a receiver and may say where a private vehicle is: kept back until the fix that it leads to is
/// judged, by its place at once, and by the pipeline.
private struct UnjudgedReads: Sendable {
    /// Of a receiver that gives no fix, no more than this is kept back; what is older is dropped.
    private static let mostBytes = 1 << 16

    private var mode: PrivateMode
    private var reads: [(at: Duration, bytes: [UInt8])] = []
    private var bytes = 0
    /// When the fixes were, and how many reads came before the one that completed each: that may hold the next one's
    /// beginning.
    private var fixes: [(time: UTCTime, reads: Int)] = []

    init(zones: [PrivateZone]) { mode = PrivateMode(zones: zones) }

    mutating func add(_ read: [UInt8], at now: Duration) {
        if bytes + read.count > Self.mostBytes { drop() }
        bytes += read.count
        reads.append((now, read))
    }

    mutating func fixMade(_ fix: Fix) {
        guard mode.tells(fix) else { return drop() }
        fixes.append((fix.timeOfFix, max(0, reads.count - 1)))
    }

    /// Nothing of it will be kept.
    mutating func drop() { (reads, bytes, fixes) = ([], 0, []) }

    /// Gives what led to `fix` and to those before it.
    mutating func release(until fix: Fix) -> [(at: Duration, bytes: [UInt8])] {
        guard let index = fixes.lastIndex(where: { $0.time == fix.timeOfFix }) else { return [] }
        let count = fixes[index].reads
        let released = Array(reads.prefix(count))
        reads.removeFirst(count)
        bytes -= released.reduce(0) { $0 + $1.bytes.count }
        fixes = fixes.dropFirst(index + 1).map { ($0.time, $0.reads - count) }
        return released
    }
}

/// A provider whose fetches are recorded, without the tokens.
package struct RecordingAuthorization: VehicleAuthorization {
    private let provider: any VehicleAuthorization
    private let recorder: RunRecorder

    package init(_ provider: any VehicleAuthorization, recorder: RunRecorder) {
        (self.provider, self.recorder) = (provider, recorder)
    }

    package func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let begun = recorder.now
        do throws(AuthorizationError) {
            let token = try await provider.token(for: context)
            recorder.note(
                .token(
                    error: nil, took: recorder.time(since: begun), lifetime: RecordedNumber(token.lifetime),
                    reuse: RecordedNumber(token.reuse), after: nil))
            return token
        } catch {
            recorder.note(
                .token(
                    error: error.code, took: recorder.time(since: begun), lifetime: nil,
                    after: RecordedNumber(error.retryAfter)))
            throw error
        }
    }

    package func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        await provider.discard(token, for: context)
    }

    package func networkReturned() async { await provider.networkReturned() }
    package func forgetTokens() async { await provider.forgetTokens() }
}

/// A transport to Fleet Engine whose requests and their outcomes are recorded.
package struct RecordingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let vehicle: VehicleName
    private let recorder: RunRecorder

    package init(_ transport: any HTTPTransport, vehicle: VehicleName, recorder: RunRecorder) {
        (self.transport, self.vehicle, self.recorder) = (transport, vehicle, recorder)
    }

    package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let begun = recorder.now
        let number = recorder.noteRequest(request.purpose)
        do throws(HTTPTransportError) {
            let response = try await transport.send(request)
            note(
                number, UploadOutcome(of: response, to: request, for: vehicle), status: response.status,
                response.traffic, since: begun)
            return response
        } catch {
            note(number, UploadOutcome(of: error), error: error.code, error.traffic, since: begun)
            throw error
        }
    }

    package func networkChanged() {
        recorder.note(.networkReturned)
        transport.networkChanged()
    }

    private func note(
        _ number: RecordedNumber, _ outcome: UploadOutcome, status: Int? = nil, error: HTTPTransportError.Code? = nil,
        _ traffic: HTTPTraffic, since begun: Duration
    ) {
        let after: Duration? =
            switch outcome {
            case .retry(_, let asked), .throttled(_, let asked): asked
            case .delivered, .tokenRefused, .unreachable, .intercepted, .hold, .rejected: nil
            }
        recorder.note(
            .answer(
                number: number, outcome: outcome.word, status: status, error: error,
                took: recorder.time(since: begun), sent: RecordedNumber(traffic.bytesSent),
                received: RecordedNumber(traffic.bytesReceived), after: RecordedNumber(after)))
    }
}
