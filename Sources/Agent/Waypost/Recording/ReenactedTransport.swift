import FleetEngine
import HTTPMessages
import LinuxPlatform
import LocationReporting

/// Answers each request as the recording says the same one was answered, after the same time; no network is needed.
final class ReenactedTransport: HTTPTransport {
    private let answers: Locked<ArraySlice<FlightEntry>>
    private let vehicle: VehicleName
    private let clock: MonotonicClock

    /// Of `entries`, the answers to updates, in the order of their requests.
    init(_ entries: [FlightEntry], vehicle: VehicleName, clock: MonotonicClock) {
        let updates = entries.filter { $0.request == "update" }.compactMap(\.number)
        let byNumber = Dictionary(
            entries.filter { $0.answer != nil }.compactMap { entry in entry.number.map { ($0, entry) } },
            uniquingKeysWith: { one, _ in one })
        answers = Locked(updates.compactMap { byNumber[$0] }[...])
        (self.vehicle, self.clock) = (vehicle, clock)
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let answer = answers.withLock { $0.popFirst() }
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
        var headers = HTTPHeaders()
        var body = #"{"error":{"code":\#(status),"message":"as recorded","status":"RECORDED"}}"#
        if answer.answer == "delivered" {
            body = #"{"name":"\#(vehicle)"}"#
        } else if answer.answer == "retry" {
            body = ""  // whoever answered, it was no verdict
            if let after = answer.after {
                if [400, 403, 404, 501].contains(status) {
                    headers["Retry-After"] = String((after + 999) / 1000)
                } else {
                    body = #"{"error":{"code":\#(status),"details":[{"retryDelay":"\#(Double(after) / 1000)s"}]}}"#
                }
            }
        }
        return HTTPResponse(status: status, headers: headers, body: Array(body.utf8), traffic: traffic)
    }
}
