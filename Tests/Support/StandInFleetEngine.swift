import HTTPMessages
package import HTTPService
package import LinuxPlatform

/// A server that answers like Fleet Engine, unless a test has another answer for a request, and records all requests.
///
/// The server parses a request only when a test asks for the contents, so that its own cost is small.
package final class StandInFleetEngine: Sendable {
    /// A request with an update.
    package struct Arrival: Sendable {
        package let at: ContinuousClock.Instant
        private let request: ServedRequest

        fileprivate init(_ request: ServedRequest) { (at, self.request) = (.now, request) }

        /// The time of the last location, in seconds after that of `Fix.sample(0)`.
        package var last: Int { StandInFleetEngine.seconds(of: request.body).first ?? -1 }
        /// The times of the past locations, in seconds after that of `Fix.sample(0)`.
        package var past: [Int] { Array(StandInFleetEngine.seconds(of: request.body).dropFirst()) }
        package var byteCount: Int { request.byteCount }
    }

    /// A test's answer to the request with this number, counted from 1; `nil` for Fleet Engine's usual answer.
    package typealias Trouble = @Sendable (_ number: Int, Arrival) -> ServedResponse?

    package let service: HTTPService
    private let log = Locked([Arrival]())

    package init(_ trouble: @escaping Trouble = { _, _ in nil }) throws(ListenError) {
        let log = log
        service = try HTTPService(
            listeningOn: .loopback(host: "127.0.0.1", port: 0), limits: HTTPServiceLimits(bodyBytes: 4 << 20)
        ) { request in
            let arrival = Arrival(request)
            let number = log.withLock { log in
                log.append(arrival)
                return log.count
            }
            return trouble(number, arrival) ?? Self.delivered
        }
    }

    package var address: LocalAddress { service.address }

    /// Every request so far in order, answered or not.
    package var arrivals: [Arrival] { log.withLock { $0 } }

    package static let delivered = ServedResponse(
        status: 200, contentType: "application/json", #"{"name":"providers/p/vehicles/v"}"#)

    /// Returns a rejection with Fleet Engine's error body.
    package static func refusal(_ status: Int, _ name: String, details: String = "[]") -> ServedResponse {
        ServedResponse(
            status: status, contentType: "application/json",
            #"{"error":{"code":\#(status),"message":"words","status":"\#(name)","details":\#(details)}}"#)
    }

    /// Returns an intermediary's answer.
    package static func strange(_ status: Int, _ body: String, headers: [String: String] = [:]) -> ServedResponse {
        var fields = HTTPHeaders()
        for (name, value) in headers { fields[name] = value }
        return ServedResponse(status: status, contentType: "text/html", body, headers: fields)
    }

    /// Returns the times of the positions in an update, in seconds after that of `Fix.sample(0)`. The last location is
    /// first, because keys are sorted.
    package static func seconds(of body: [UInt8]) -> [Int] {
        func number(_ start: Int) -> Int { Int(body[start]) * 10 + Int(body[start + 1]) - 48 * 11 }
        // Finds each time, such as 2026-01-05T10:00:00Z, by its T.
        return body.indices.filter { index in
            index >= 10 && index + 9 < body.count && body[index] == UInt8(ascii: "T")
                && body[index - 3] == UInt8(ascii: "-") && body[index + 3] == UInt8(ascii: ":")
        }.map { middle in
            ((number(middle - 2) - 5) * 24 + number(middle + 1) - 10) * 3600 + number(middle + 4) * 60
                + number(middle + 7)
        }
    }
}
