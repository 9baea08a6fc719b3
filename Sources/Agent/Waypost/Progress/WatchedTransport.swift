import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText

/// A transport whose exchanges can be given up, and that can be made anew.
final class WatchedTransport: HTTPTransport {
    private let make: @Sendable () -> (any HTTPTransport)?
    private let current: Locked<any HTTPTransport>
    private let calls: StageCalls

    /// `make` gives another transport of the same kind; `nil` when it cannot.
    init(
        _ transport: any HTTPTransport, progress: StageProgress, clock: MonotonicClock,
        make: @escaping @Sendable () -> (any HTTPTransport)?
    ) {
        (current, self.make) = (Locked(transport), make)
        calls = StageCalls(of: .transport, progress: progress, clock: clock)
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let transport = current.withLock { $0 }
        let result = await calls.run { () -> Result<HTTPResponse, HTTPTransportError> in
            do throws(HTTPTransportError) { return .success(try await transport.send(request)) } catch {
                return .failure(error)
            }
        }
        guard let result else {
            throw HTTPTransportError(.timedOut, "\(request.url.origin): the exchange did not end and was given up")
        }
        return try result.get()
    }

    func networkChanged() { current.withLock { $0 }.networkChanged() }

    /// A new connection at first, then another transport.
    func repair(attempt: Int) {
        let old = current.withLock { $0 }
        if attempt > 0, let new = make() {
            current.withLock { $0 = new }
            // Its end waits for its thread, which may be stuck.
            startThread(named: "curl-retired") { withExtendedLifetime(old) {} }
        } else {
            old.networkChanged()
        }
        calls.giveUp()
    }
}
