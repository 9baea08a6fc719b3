import Operations
import Conditions
import HTTPService
import LinuxPlatform
import ReportedText
import Reporting

/// The status address of a running service. It accepts connections from the start, before there is anything to report.
/// If another program uses the address, Waypost tries again until the address is free.
struct StatusAddress: Sendable {
    /// The routes that answer requests; `nil` until the service has started.
    let routes = Locked<StatusRoutes?>(nil)
    private let configured: LocalAddress
    private let first: Result<HTTPService, ListenError>

    /// The limits for the pause between attempts to listen. The pause doubles after each attempt.
    private static let minimumPause = Duration.seconds(1)
    private static let maximumPause = Duration.seconds(30)

    /// Tries to listen on `configured`. If that fails, the service starts anyway, and `run` tries again.
    init(_ configured: LocalAddress) {
        self.configured = configured
        do throws(ListenError) { first = .success(try Self.listen(on: configured, routes: routes)) } catch {
            first = .failure(error)
        }
    }

    /// The address that the service has listened on since its start; `nil` if it was in use at the start.
    var address: LocalAddress? { (try? first.get())?.address }

    /// Serves requests until the task is cancelled.
    func run(clock: MonotonicClock, monitor: AgentMonitor) async {
        switch first {
        case .success(let service): await service.run()
        case .failure(let error):
            let condition = Condition(statusAddress: "\(configured)", unavailable: error.fault)
            monitor.raise(condition, on: .code(.statusAddressUnavailable))
            guard let service = await retryListening(clock: clock) else { return }
            monitor.clear(.code(.statusAddressUnavailable))
            await service.run()
        }
    }

    /// Tries to listen until that succeeds, and returns the HTTP service; `nil` if the task is cancelled.
    private func retryListening(clock: MonotonicClock) async -> HTTPService? {
        var pause = Self.minimumPause
        while !Task.isCancelled {
            await clock.sleep(for: pause)
            pause = min(pause * 2, Self.maximumPause)
            let attempt = await onThreadIfPossible(named: "status") { [configured, routes] in
                try? Self.listen(on: configured, routes: routes)
            }
            if case .success(let service?) = attempt { return service }
        }
        return nil
    }

    private static func listen(
        on address: LocalAddress, routes: Locked<StatusRoutes?>
    ) throws(ListenError) -> HTTPService {
        try HTTPService(listeningOn: address, limits: HTTPServiceLimits(bodyBytes: 1024)) {
            guard let routes = routes.withLock({ $0 }) else {
                return .refusal(status: 503, "the service is starting")
            }
            return await routes.answer($0)
        }
    }
}
