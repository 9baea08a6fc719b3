import LinuxPlatform
import Reporting
import TimeAndRandomness
import Operations

/// `waypost status --watch`: shows the running service's status on the whole terminal and keeps it current.
struct LiveView {
    private let service: RunningService

    /// The time between two requests for the service's status.
    private static let requestInterval = Duration.seconds(1)
    /// The maximum time until the view shows a new report or adapts to a new window size.
    private static let redrawInterval = Duration.milliseconds(200)

    init(_ service: RunningService) { self.service = service }

    /// Whether standard input and output are a terminal that can show the view.
    static var isPossible: Bool {
        TerminalScreen.isPossible && !["", "dumb"].contains(ProcessEnvironment.variables["TERM", default: ""])
    }

    /// Runs until the user quits or the terminal is closed.
    func run() async throws {
        let watched = Locked(WatchedService())
        let stop = try EventDescriptor()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // A request to the service may hang. The view must be able to end without waiting for it.
            group.addTask { [service] in
                _ = await AbandonableCall.run(stoppedWithin: .zero, on: MonotonicClock(ContinuousClock())) { _ in
                    await Self.pollStatus(of: service, into: watched)
                }
            }
            let end = await withTaskCancellationHandler {
                await onThread(named: "screen") {
                    Result { () throws(SystemError) in try Self.show(watched, until: stop) }
                }
            } onCancel: {
                stop.signal()
            }
            group.cancelAll()
            try end.get()
        }
    }

    private static func pollStatus(of service: RunningService, into watched: Locked<WatchedService>) async {
        while !Task.isCancelled {
            let answer: Result<StatusReport, AgentError>
            do throws(AgentError) { answer = .success(try await service.report().report) } catch {
                answer = .failure(error)
            }
            let now = UTCTime.system
            watched.withLock { $0.note(answer, at: now) }
            try? await Task.sleep(for: requestInterval)  // cancelled when the view ends
        }
    }

    /// Redraws the view after each change. Blocks until the user quits, the terminal is closed or `stop` is signalled.
    private static func show(_ watched: Locked<WatchedService>, until stop: EventDescriptor) throws(SystemError) {
        let screen = try TerminalScreen()
        let inColour = Colour.isShown(isTerminal: true, environment: ProcessEnvironment.variables)
        var shown: [String]?
        while true {
            let content = LiveScreen(watched.withLock { $0 }, at: .system, size: screen.size)
            let lines = content.text(inColour: inColour)
            if lines != shown { try screen.draw(lines) }
            shown = lines
            switch try screen.nextKey(within: redrawInterval, unless: stop) {
            case .end, .character(UInt8(ascii: "q")), .character(UInt8(ascii: "Q")), .character(3), .character(4):
                return
            case .character: shown = nil  // any other key redraws
            case nil: break
            }
        }
    }
}
