import LinuxPlatform
package import LocationReporting
import RunRecording
import SQLiteOutbox
import StrictJSON

/// What a technician has the service do by a button of the page: at most one of each kind at a time.
///
/// An order is taken at once and carried out by `run`; the page reads what comes of it.
package final class PageOrders: Sendable {
    /// What carries the orders out.
    package struct Means: Sendable {
        /// Runs the checks; hears each line as it is found.
        let check: @Sendable (_ found: @escaping @Sendable (CheckLine) -> Void) async -> Void
        /// Records for ten minutes, and tells where, or why it ended before.
        let record: @Sendable () async -> String
        /// Makes a support bundle.
        let bundle: @Sendable () async -> (name: String, bytes: [UInt8])
    }

    /// What can be ordered and takes a while.
    enum Order: String, Sendable, CaseIterable { case check, record }

    private struct State {
        /// Since when it is under way, or when it was over.
        var begun: [Order: Duration] = [:]
        var ended: [Order: Duration] = [:]
        var lines: [CheckLine] = []
        var recording: String?
        var isBundling = false
        /// When the last bundle was complete.
        var bundled: Duration?
    }

    /// Between two checks, and two bundles, which hold one: each asks the token backend, and any program of this
    /// machine can order them.
    private static let checkPause = Duration.seconds(30)
    /// How long a recording is.
    static let recordingLength = Duration.seconds(600)
    /// A check has a dozen lines.
    private static let maximumLines = 100

    private let clock: MonotonicClock
    private let means: Means
    private let state = Locked(State())
    private let orders: AsyncStream<Order>
    private let sink: AsyncStream<Order>.Continuation

    package init(clock: MonotonicClock, _ means: Means) {
        (self.clock, self.means) = (clock, means)
        (orders, sink) = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingOldest(4))
    }

    /// Carries out what is ordered, until it is cancelled. To be called once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await order in orders { group.addTask { await self.carryOut(order) } }
        }
    }

    /// Takes an order, or tells why it is not taken.
    func take(_ order: Order) -> String? {
        let now = clock.now
        let refusal: String? = state.withLock { state in
            guard state.begun[order] == nil else { return Self.underWay }
            if order == .check, let last = state.ended[order], now - last < Self.checkPause {
                return "the last check was a moment ago; wait half a minute"
            }
            state.begun[order] = now
            if order == .check { state.lines = [] }
            return nil
        }
        if refusal == nil { sink.yield(order) }
        return refusal
    }

    /// Why one more of its kind is not taken.
    private static let underWay = "this is under way already"

    /// Makes the bundle; `nil` while another one is made, and for a moment after that.
    func bundle() async -> (name: String, bytes: [UInt8])? {
        let now = clock.now
        let isTaken = state.withLock { state in
            guard !state.isBundling, state.bundled.map({ now - $0 >= Self.checkPause }) ?? true else { return false }
            state.isBundling = true
            return true
        }
        guard isTaken else { return nil }
        let bundle = await means.bundle()
        let end = clock.now
        state.withLock { ($0.isBundling, $0.bundled) = (false, end) }
        return bundle
    }

    private func carryOut(_ order: Order) async {
        switch order {
        case .check:
            await means.check { [state] line in
                state.withLock { if $0.lines.count < Self.maximumLines { $0.lines.append(line) } }
            }
        case .record:
            let outcome = await means.record()
            state.withLock { $0.recording = outcome }
        }
        let now = clock.now
        state.withLock { state in
            state.begun[order] = nil
            state.ended[order] = now
        }
    }

    /// What the page shows of them.
    var json: JSONValue {
        let now = clock.now
        let state = state.withLock { $0 }
        func seconds(_ moment: Duration?) -> JSONValue {
            moment.map { .integer(Int64((now - $0) / .seconds(1))) } ?? .null
        }
        let lines = state.lines.map { line in
            JSONValue.object([
                "verdict": .string(line.verdict.rawValue), "name": .string(line.name), "text": .string(line.text),
            ])
        }
        return .object([
            "checkingSeconds": seconds(state.begun[.check]), "checkedSecondsAgo": seconds(state.ended[.check]),
            "lines": .array(lines), "recordingSeconds": seconds(state.begun[.record]),
            "recordingLength": .integer(Self.recordingLength.components.seconds),
            "recorded": state.recording.map(JSONValue.string) ?? .null,
        ])
    }
}

extension PageOrders.Means {
    /// The service's own: `report` is what it says of itself, `file` where its configuration is from.
    init(
        _ inForce: Locked<Configuration>, file: String?, recorder: RunRecorder, history: HistoryKeeper,
        clock: MonotonicClock, report: @escaping @Sendable () async -> StatusReport
    ) {
        check = { found in
            let configuration = inForce.withLock { $0 }
            let lines = await onThread(named: "check") { OfflineCheck.lines(configuration, from: file) }
            for line in lines { found(line) }
            // Only what hears of a check can fail.
            try? await OnlineCheck.run(
                configuration, from: file, asService: await report(), waits: { _ in }, found: found)
        }
        let folder = Self.recordingFolder(besideOutbox: inForce.withLock { $0.outbox.path })
        record = {
            if recorder.isRecording { return "The whole run is being recorded already, as --record asks." }
            let settings = RecordingSettings(folder: folder, version: Release.version)
            guard let failure = await recorder.record(settings, for: PageOrders.recordingLength) else {
                return "The recording is in \(folder); waypost replay plays it again."
            }
            return "The recording in \(folder) has ended early: \(failure). Reporting goes on."
        }
        bundle = {
            var sources = SupportBundle.Sources(inForce.withLock { $0 }, file: file)
            let log = history.current.history.lines.lazy.filter { $0.level < .debug }
            sources.maker = (await report(), log.map { "\($0.level.rawValue): \($0.text)" })
            let bundle = await SupportBundle.collect(sources, at: .system, on: clock)
            return (bundle.name, bundle.archive)
        }
    }

    /// Where recordings are kept that a page orders: the newest 32 MiB.
    static func recordingFolder(besideOutbox path: String) -> String { path + ".recording" }
}
