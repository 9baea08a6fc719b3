import FleetEngine
package import GNSSReceiver
import HTTPMessages
import LinuxPlatform
package import LocationReporting
import StrictJSON
import TimeAndChance
import VehicleAuthorization

/// Keeps what a run hears and decides: the receiver's bytes with their times, the outcomes of requests and token
/// fetches, the kernel's word of the network, and what followed from them. No token, header, body, nor a coordinate
/// beyond the receiver's own sentences.
///
/// What comes is put into memory, and written by the thread `flight-recorder`.
package final class FlightRecorder: ReportingObserver, ReceiverTap {
    private struct State {
        var backlog = FlightBacklog()
        var words = FlightWords()
        var requests = 0
        var evicted: Int64 = 0
    }

    private let clock: MonotonicClock
    private let progress: (any ReceiverTap)?
    private let state = Locked(State())

    /// `clock` counts from the start of the run; `progress` hears of the receiver's thread.
    package init(clock: MonotonicClock, progress: (any ReceiverTap)? = nil) {
        (self.clock, self.progress) = (clock, progress)
    }

    /// Milliseconds since the start.
    var now: Int { clock.now.milliseconds }

    package var keepsOutput: Bool { true }
    package func turned() { progress?.turned() }
    package func ended() { progress?.ended() }
    package func lineOpened() { note { $0.with(\.line, "opened") } }
    package func lineClosed() { note { $0.with(\.line, "closed") } }

    package func fixMade() {
        progress?.fixMade()
        state.withLock { $0.backlog.closeRead() }
    }

    package func received(_ bytes: Span<UInt8>) {
        let now = now
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { $0.backlog.add(copy.span, at: now) }
    }

    package func observe(_ event: ReportingEvent) {
        let now = now
        state.withLock { state in
            if let entry = state.words.entry(for: event, at: now) { state.backlog.add(entry) }
        }
    }

    /// Adds an entry of this moment.
    func note(_ words: (FlightEntry) -> FlightEntry) {
        let entry = words(FlightEntry(at: now))
        state.withLock { $0.backlog.add(entry) }
    }

    /// Notes that a request goes out, and gives its number.
    func noteRequest(_ kind: String) -> Int {
        let entry = FlightEntry(at: now).with(\.request, kind)
        return state.withLock { state in
            state.requests += 1
            state.backlog.add(entry.with(\.number, state.requests))
            return state.requests
        }
    }

    /// Notes what the account says when more was evicted.
    func note(_ ledger: StatusReport.Account) {
        let entry = FlightEntry(at: now).with(\.evicted, ledger.evicted)
        state.withLock { state in
            guard ledger.evicted != state.evicted else { return }
            state.evicted = ledger.evicted
            state.backlog.add(entry)
        }
    }

    /// Draws from 0...1, and notes it.
    func draw(of kind: String) -> Double {
        let value = Double.random(in: 0...1)
        note { $0.with(\.draw, kind).with(\.value, value) }
        return value
    }

    /// Everything that has still to be written.
    func takeBacklog() -> (receiver: [UInt8], lines: [UInt8])? {
        state.withLock { $0.backlog.isEmpty ? nil : $0.backlog.take() }
    }
}

extension FlightRecorder {
    /// Writes every few seconds until cancelled, and then what is left. A full disk is no reason to stop reporting:
    /// `reportEnd` is told once.
    package func write(_ settings: FlightSettings, reportEnd: @escaping @Sendable (String) -> Void) async {
        let stop: EventDescriptor
        do throws(SystemError) { stop = try EventDescriptor() } catch {
            return reportEnd(Self.ending(settings, error))
        }
        await withTaskCancellationHandler {
            await onThread(named: "flight-recorder") { [self] in
                do throws(SystemError) { try write(settings, unless: stop) } catch {
                    reportEnd(Self.ending(settings, error))
                }
            }
        } onCancel: {
            stop.signal()
        }
    }

    /// Blocks until stopped; gives everything to the disk before it returns.
    func write(_ settings: FlightSettings, unless stop: EventDescriptor) throws(SystemError) {
        let header = FlightFiles.header(at: .system, isSynchronized: UTCTime.synchronizedSystem != nil)
        var files = try FlightFiles(settings, header: header)
        var isStopped = false
        repeat {
            isStopped = try poll(nil, within: FlightSettings.flushInterval, unless: stop) == .stopped
            if let (receiver, lines) = takeBacklog() { try files.write(receiver: receiver, lines: lines) }
        } while !isStopped
    }

    private static func ending(_ settings: FlightSettings, _ error: SystemError) -> String {
        // Our own refusals bring their remedy.
        let remedy =
            error.refusal == nil
            ? "see that there is room and that this user may write, or give --record another folder; " : ""
        return "the run is not recorded in \(settings.folder) any more: \(error); \(remedy)restart to record again; "
            + "reporting goes on"
    }
}

/// What a recording has still to write: bounded, in order, cheap to add to.
struct FlightBacklog: Sendable {
    private(set) var receiver: [UInt8] = []
    private(set) var lines: [UInt8] = []
    /// Reads that are not told yet.
    private var read: (at: Int, bytes: Int)?
    private var lost = 0

    /// Whether there is nothing to write.
    var isEmpty: Bool { lines.isEmpty && read == nil }

    /// Adds what was read at `now`, in milliseconds.
    mutating func add(_ bytes: Span<UInt8>, at now: Int) {
        if let read, now - read.at > FlightSettings.readWindow { closeRead() }
        guard receiver.count + lines.count + bytes.count < FlightSettings.longestBacklog else {
            lost += 1
            return
        }
        receiver.reserveCapacity(receiver.count + bytes.count)
        for index in bytes.indices { receiver.append(bytes[index]) }
        read = (read?.at ?? now, (read?.bytes ?? 0) + bytes.count)
    }

    /// What is read from now on is another entry.
    mutating func closeRead() {
        guard let read else { return }
        self.read = nil
        write(FlightEntry(at: read.at).with(\.read, read.bytes))
    }

    /// Adds an entry.
    mutating func add(_ entry: FlightEntry) {
        closeRead()
        guard receiver.count + lines.count < FlightSettings.longestBacklog else {
            lost += 1
            return
        }
        if lost > 0 {
            write(FlightEntry(at: entry.at).with(\.lost, lost))
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

    private mutating func write(_ entry: FlightEntry) { lines += Self.line(entry) }

    /// One line of JSON.
    static func line(_ entry: FlightEntry) -> [UInt8] {
        // Numbers and words always encode.
        (try? JSONValue(encoding: entry)).map { Array("\($0.text)\n".utf8) } ?? []
    }
}

/// A provider whose fetches are recorded, without the tokens.
struct FlightAuthorization: VehicleAuthorization {
    let provider: any VehicleAuthorization
    let recorder: FlightRecorder

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let begun = recorder.now
        do throws(AuthorizationError) {
            let token = try await provider.token(for: context)
            recorder.note {
                $0.with(\.token, "fetched").with(\.took, $0.at - begun).with(\.lifetime, token.lifetime?.milliseconds)
            }
            return token
        } catch {
            recorder.note {
                $0.with(\.token, error.code.rawValue).with(\.took, $0.at - begun)
                    .with(\.after, error.retryAfter?.milliseconds)
            }
            throw error
        }
    }

    func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        await provider.discard(token, for: context)
    }

    func networkReturned() async { await provider.networkReturned() }
}

/// A transport whose requests and their outcomes are recorded.
struct FlightTransport: HTTPTransport {
    let transport: any HTTPTransport
    let vehicle: VehicleName
    let recorder: FlightRecorder

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let begun = recorder.now
        let isUpdate = request.url.target.contains("lastLocation")
        let number = recorder.noteRequest(isUpdate ? "update" : "state")
        do throws(HTTPTransportError) {
            let response = try await transport.send(request)
            note(UploadOutcome(of: response, to: request, for: vehicle), response.traffic, number, begun) {
                $0.with(\.status, response.status)
            }
            return response
        } catch {
            note(UploadOutcome(of: error), error.traffic, number, begun) { $0.with(\.error, error.code.rawValue) }
            throw error
        }
    }

    func networkChanged() {
        recorder.note { $0.with(\.network, "returned") }
        transport.networkChanged()
    }

    private func note(
        _ outcome: UploadOutcome, _ traffic: HTTPTraffic, _ number: Int, _ begun: Int,
        _ words: (FlightEntry) -> FlightEntry
    ) {
        let after: Duration? =
            switch outcome {
            case .retry(_, let asked), .throttled(_, let asked): asked
            case .delivered, .tokenRefused, .unreachable, .intercepted, .hold, .rejected: nil
            }
        recorder.note { entry in
            words(entry.with(\.answer, outcome.word).with(\.number, number).with(\.took, entry.at - begun))
                .with(\.sent, traffic.bytesSent).with(\.received, traffic.bytesReceived)
                .with(\.after, after?.milliseconds)
        }
    }
}
