import FleetEngine
import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText

/// Answers each request as the recording says that the same one was answered, after the same time; no network is
/// needed.
///
/// Which one is the same, its order says, and its time where the replay sends fewer requests than the run did, or more:
/// an update more or less in a request is no difference.
final class ReenactedTransport: HTTPTransport {
    private struct Script {
        var rest: ArraySlice<FlightEntry>
        var last: FlightEntry?
    }

    /// How late or early a request may be, in milliseconds; a heartbeat falls within a second or so.
    private static let (late, early) = (250, 2000)

    private let script: Locked<Script>
    private let vehicle: VehicleName
    private let clock: MonotonicClock

    /// Of `entries`, the answers to updates, in the order of their requests.
    init(_ entries: [FlightEntry], vehicle: VehicleName, clock: MonotonicClock) {
        let updates = entries.filter { $0.request == "update" }.compactMap(\.number)
        let byNumber = Dictionary(
            entries.filter { $0.answer != nil }.compactMap { entry in entry.number.map { ($0, entry) } },
            uniquingKeysWith: { one, _ in one })
        script = Locked(Script(rest: updates.compactMap { byNumber[$0] }[...]))
        (self.vehicle, self.clock) = (vehicle, clock)
    }

    /// The answer to a request that goes out at `now`, in milliseconds; `nil` when none is recorded.
    private func answer(at now: Int) -> FlightEntry? {
        script.withLock { script in
            while let head = script.rest.first, head.isDelivery, let following = script.rest.dropFirst().first,
                following.begun + Self.late < now
            {
                script.rest.removeFirst()
            }
            if let head = script.rest.first, head.begun > now + Self.early, let last = script.last, last.isDelivery {
                return last
            }
            script.last = script.rest.popFirst()
            return script.last
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let answer = answer(at: clock.now.milliseconds)
        guard let answer, answer.error != HTTPTransportError.Code.cancelled.rawValue else {
            // Under way when the recording ended, or given up by the one who waited.
            while !Task.isCancelled { await clock.sleep(for: .seconds(3600)) }
            throw HTTPTransportError(.cancelled, "cancelled")
        }
        await clock.sleep(for: .milliseconds(answer.took ?? 0))
        if Task.isCancelled { throw HTTPTransportError(.cancelled, "cancelled") }
        let traffic = HTTPTraffic(bytesSent: answer.sent ?? 0, bytesReceived: answer.received ?? 0)
        if let code = answer.error.flatMap(HTTPTransportError.Code.init(rawValue:)) {
            throw HTTPTransportError(code, "as recorded: \(code.rawValue)", traffic: traffic)
        }
        return response(answer, traffic)
    }

    /// An answer that is judged as the recorded one was.
    private func response(_ answer: FlightEntry, _ traffic: HTTPTraffic) -> HTTPResponse {
        let status = answer.status ?? 503
        let details = answer.after.map { #","details":[{"retryDelay":"\#(Double($0) / 1000)s"}]"# } ?? ""
        let body =
            switch answer.answer {
            case "delivered": #"{"name":"\#(vehicle)"}"#
            case "intercepted": ""  // somebody else's words
            default: #"{"error":{"code":\#(status),"message":"as recorded","status":"RECORDED"\#(details)}}"#
            }
        return HTTPResponse(status: status, body: Array(body.utf8), traffic: traffic)
    }
}

extension FlightEntry {
    /// When the request of this answer went out.
    fileprivate var begun: Int { at - (took ?? 0) }
    fileprivate var isDelivery: Bool { answer == "delivered" }
}
