import LinuxPlatform
package import Reporting
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
        /// Makes a support bundle.
        let bundle: @Sendable () async -> (name: String, bytes: [UInt8])
    }

    private struct State {
        /// The times at which the current check began and the last one ended.
        var begun, ended: Duration?
        var lines: [CheckLine] = []
        var isBundling = false
        /// When the last bundle was complete.
        var bundled: Duration?
    }

    /// Between two checks, and two bundles, which hold one: each asks the token backend, and any program of this
    /// machine can order them.
    private static let checkPause = Duration.seconds(30)
    /// A check has a dozen lines.
    private static let maximumLines = 100

    private let clock: MonotonicClock
    private let means: Means
    private let state = Locked(State())
    private let checks: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    package init(clock: MonotonicClock, _ means: Means) {
        self.clock = clock
        self.means = means
        (checks, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    }

    /// Runs the checks that are ordered, until the task is cancelled. It must be called once.
    package func run() async {
        for await _ in checks { await check() }
    }

    /// Orders a check. Returns why it is rejected, or `nil`.
    func orderCheck() -> String? {
        let now = clock.now
        let refusal: String? = state.withLock { state in
            guard state.begun == nil else { return "a check is running already" }
            if let last = state.ended, now - last < Self.checkPause {
                return "the last check was a moment ago; wait half a minute"
            }
            state.begun = now
            state.lines = []
            return nil
        }
        if refusal == nil { sink.yield() }
        return refusal
    }

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
        state.withLock {
            $0.isBundling = false
            $0.bundled = end
        }
        return bundle
    }

    private func check() async {
        await means.check { [state] line in
            state.withLock { if $0.lines.count < Self.maximumLines { $0.lines.append(line) } }
        }
        let now = clock.now
        state.withLock { state in
            state.begun = nil
            state.ended = now
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
            "checkingSeconds": seconds(state.begun), "checkedSecondsAgo": seconds(state.ended),
            "lines": .array(lines),
        ])
    }
}

extension PageOrders.Means {
    /// The service's own: `report` is what it says of itself, `file` where its configuration is from.
    init(
        _ inForce: Locked<Configuration>, file: String?, history: HistoryKeeper,
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
        bundle = {
            var sources = SupportBundle.Sources(inForce.withLock { $0 }, file: file)
            let log = history.current.history.lines.lazy.filter { $0.level < .debug }
            sources.maker = (await report(), log.map { "\($0.level.rawValue): \($0.text)" })
            let bundle = await SupportBundle.collect(sources, at: .system, on: clock)
            return (bundle.name, bundle.archive)
        }
    }
}
