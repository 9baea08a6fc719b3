import Operations
import Conditions
import HTTPService
import LinuxPlatform
import ReportedText
import Reporting

/// The status address of a running service, which listens from the start, before there is anything to report. If the
/// address is taken, listening is retried until the address is free.
struct StatusAddress: Sendable {
    /// The routes that answer requests; `nil` until the service has started.
    let routes = Locked<StatusRoutes?>(nil)
    private let configured: LocalAddress
    private let first: Result<HTTPService, ListenError>

    /// The minimum and the maximum pause between attempts to listen.
    private static let minimumPause = Duration.seconds(1)
    private static let maximumPause = Duration.seconds(30)

    /// Listens on `configured` if it is free. If it is taken, the service starts anyway, and `run` retries.
    ///
    /// - Throws: an error if listening on this address is never allowed.
    init(_ configured: LocalAddress) throws(AgentError) {
        self.configured = configured
        do throws(ListenError) { first = .success(try Self.listen(on: configured, routes)) } catch {
            if error.isRefusal { throw AgentError(.configuration, "status.listen: \(error)") }
            first = .failure(error)
        }
    }

    /// The address that the service listens on; `nil` if it doesn't listen yet.
    var address: LocalAddress? { (try? first.get())?.address }

    /// Serves until cancelled.
    func run(clock: MonotonicClock, _ monitor: AgentMonitor) async {
        switch first {
        case .success(let service): await service.run()
        case .failure(let error):
            let why = error.explanation
            let condition = Condition(statusAddressUnavailable: "\(why.reason)", remedy: "\(why.remedy)")
            monitor.raise(condition, on: .one(.statusAddressUnavailable))
            guard let service = await nextService(clock: clock) else { return }
            monitor.clear(.one(.statusAddressUnavailable))
            await service.run()
        }
    }

    /// Retries until listening succeeds, and returns the HTTP service; `nil` if cancelled.
    private func nextService(clock: MonotonicClock) async -> HTTPService? {
        var pause = Self.minimumPause
        while !Task.isCancelled {
            await clock.sleep(for: pause)
            pause = min(pause * 2, Self.maximumPause)
            let attempt = await onThreadIfAny(named: "status") { [configured, routes] in
                try? Self.listen(on: configured, routes)
            }
            if case .success(let service?) = attempt { return service }
        }
        return nil
    }

    private static func listen(
        on address: LocalAddress, _ routes: Locked<StatusRoutes?>
    ) throws(ListenError) -> HTTPService {
        try HTTPService(listeningOn: address, limits: HTTPServiceLimits(bodyBytes: 1024)) {
            guard let routes = routes.withLock({ $0 }) else {
                return .refusal(status: 503, "the service is starting")
            }
            return await routes.answer($0)
        }
    }
}
