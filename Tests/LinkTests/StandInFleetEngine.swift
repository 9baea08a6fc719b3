import GNSS
import HTTPMessages
import HTTPService
import LinuxPlatform

/// A server that answers like Fleet Engine, unless a test has something else for a request, and keeps what it was told.
final class StandInFleetEngine: Sendable {
    /// One update as it arrived: the seconds of its positions on the test's day.
    struct Arrival: Sendable {
        let token: String
        let last: Int
        let past: [Int]
        let byteCount: Int
    }

    /// What a test answers to the request of this number, from 1; `nil` answers like Fleet Engine.
    typealias Trouble = @Sendable (_ number: Int, Arrival) -> ServedResponse?

    let service: HTTPService
    private let log = Locked([Arrival]())

    init(_ trouble: @escaping Trouble = { _, _ in nil }) throws {
        let log = log
        service = try HTTPService(
            listeningOn: .loopback(host: "127.0.0.1", port: 0), limits: HTTPServiceLimits(bodyBytes: 4 << 20)
        ) { request in
            let arrival = Self.arrival(request)
            let number = log.withLock { log in
                log.append(arrival)
                return log.count
            }
            return trouble(number, arrival) ?? Self.delivered
        }
    }

    /// Every update so far, in order, answered or not.
    var arrivals: [Arrival] { log.withLock { $0 } }

    static let delivered = ServedResponse(
        status: 200, contentType: "application/json", #"{"name":"providers/p/vehicles/v"}"#)

    /// A refusal with Fleet Engine's error body.
    static func refusal(_ status: Int, _ name: String, details: String = "[]") -> ServedResponse {
        ServedResponse(
            status: status, contentType: "application/json",
            #"{"error":{"code":\#(status),"message":"words","status":"\#(name)","details":\#(details)}}"#)
    }

    /// Somebody else's answer.
    static func strange(_ status: Int, _ body: String, headers: [String: String] = [:]) -> ServedResponse {
        var fields = HTTPHeaders()
        for (name, value) in headers { fields[name] = value }
        return ServedResponse(status: status, contentType: "text/html", body, headers: fields)
    }

    private static func arrival(_ request: ServedRequest) -> Arrival {
        let seconds = seconds(of: request.body)
        return Arrival(
            token: request.headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) } ?? "",
            last: seconds.first ?? -1, past: Array(seconds.dropFirst()), byteCount: request.byteCount)
    }

    /// The seconds since ten o'clock of the positions in an update, the last location first: keys are sorted.
    static func seconds(of body: [UInt8]) -> [Int] {
        func number(_ start: Int) -> Int { Int(body[start]) * 10 + Int(body[start + 1]) - 48 * 11 }
        // 2026-01-05T10:00:00.000Z
        return body.indices.filter { index in
            index >= 24 && body[index] == UInt8(ascii: "Z") && body[index - 4] == UInt8(ascii: ".")
                && body[index - 13] == UInt8(ascii: "T")
        }.map { end in
            ((number(end - 15) - 5) * 24 + number(end - 12) - 10) * 3600 + number(end - 9) * 60 + number(end - 6)
        }
    }
}
