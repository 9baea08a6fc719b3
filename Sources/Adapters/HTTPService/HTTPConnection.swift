/// The state of one connection. It determines when to read and write, which request is handled next, and when to close.
///
/// The connection has no socket and no clock: `ServiceLoop` passes bytes, responses and times to it. Times are counted
/// from a fixed moment of a monotonic clock. Only one request is handled at a time. Meanwhile, the bytes that follow
/// the request stay in the parser.
struct HTTPConnection {
    enum Termination: Sendable, Hashable {
        /// The connection is closed normally (FIN).
        case close
        /// The connection is reset (RST).
        case reset
    }

    private enum Phase {
        case reading(deadline: Duration)
        case handling
        case writing(deadline: Duration, next: AfterWriting)
        /// A fault that the simulator has requested: nothing more is sent until the client closes the connection.
        case stalled
        /// The response has been sent, and the rest of the request is read and discarded. If the connection were closed
        /// at once, it would be reset, and the client might lose the response.
        case draining(deadline: Duration)
        case ended(Termination)
    }

    private enum AfterWriting { case nextRequest, stall, reset, drain }

    private static let drainTime = Duration.seconds(2)

    private let limits: HTTPServiceLimits
    private let allowedHosts: AllowedHosts
    /// Returns the value of the `Date` header.
    private let date: () -> String
    private var parser: HTTPRequestParser
    private var phase: Phase
    private var request: ServedRequest?
    /// The bytes that haven't been written to the socket yet.
    private(set) var output: ArraySlice<UInt8> = []

    init(limits: HTTPServiceLimits, allowedHosts: AllowedHosts, now: Duration, date: @escaping () -> String) {
        self.limits = limits
        self.allowedHosts = allowedHosts
        self.date = date
        parser = HTTPRequestParser(limits: limits)
        phase = .reading(deadline: now + limits.timeout)
    }

    /// Whether the handler is working on a request from this connection.
    var isHandling: Bool { if case .handling = phase { true } else { false } }

    var wantsToRead: Bool {
        switch phase {
        case .reading, .stalled, .draining: true
        case .handling, .writing, .ended: false
        }
    }

    var wantsToWrite: Bool { !output.isEmpty }

    /// Whether the whole response has been sent, so that the sending side of the socket can be shut down.
    var hasSentEverything: Bool { if case .draining = phase { true } else { false } }

    var termination: Termination? { if case .ended(let termination) = phase { termination } else { nil } }

    /// The time at which `tick` must be called; `nil` if there is no deadline.
    var deadline: Duration? {
        switch phase {
        case .reading(let deadline), .writing(let deadline, _), .draining(let deadline): deadline
        case .handling, .stalled, .ended: nil
        }
    }

    /// Adds bytes that the client has sent. Returns the next request if it is now complete.
    mutating func receive(_ bytes: some Collection<UInt8>, now: Duration) -> ServedRequest? {
        guard case .reading = phase else { return nil }
        if parser.isBetweenRequests { phase = .reading(deadline: now + limits.timeout) }
        parser.append(bytes)
        return nextRequest(now: now)
    }

    /// Records that the client has closed its sending side.
    mutating func recordEndOfInput() { phase = .ended(.close) }

    /// Accepts the handler's response to the current request.
    mutating func answer(_ served: ServedResponse, now: Duration) {
        guard case .handling = phase else { return }
        let keepsAlive = request?.keepsAlive ?? false
        let bytes = responseBytes(for: served.response, method: request?.method, keepsAlive: keepsAlive, date: date())
        switch served.delivery {
        case .whole: write(bytes[...], next: keepsAlive ? .nextRequest : .drain, now: now)
        case .stall(let count): write(bytes.prefix(count), next: .stall, now: now)
        case .reset(let count): write(bytes.prefix(count), next: .reset, now: now)
        case .drop: phase = .ended(.close)
        }
    }

    /// Records that the socket has accepted `count` bytes of `output`. Returns the next request if it has already
    /// arrived completely.
    mutating func recordWrite(of count: Int, now: Duration) -> ServedRequest? {
        output.removeFirst(count)
        guard output.isEmpty, case .writing(_, let next) = phase else { return nil }
        switch next {
        case .nextRequest:
            phase = .reading(deadline: now + limits.timeout)
            return nextRequest(now: now)
        case .stall: phase = .stalled
        case .reset: phase = .ended(.reset)
        case .drain: phase = .draining(deadline: now + Self.drainTime)
        }
        return nil
    }

    /// Closes the connection, or rejects an incomplete request, if the deadline has passed.
    mutating func tick(now: Duration) {
        guard let deadline, now >= deadline else { return }
        switch phase {
        case .reading where !parser.isBetweenRequests: reject(.timedOut, now: now)
        case .reading, .draining: phase = .ended(.close)
        case .writing: phase = .ended(.reset)
        case .handling, .stalled, .ended: break
        }
    }

    /// Records that the socket has failed.
    mutating func recordFailure() { phase = .ended(.close) }

    private mutating func nextRequest(now: Duration) -> ServedRequest? {
        do {
            if let complete = try parser.nextRequest() {
                try allowedHosts.check(complete)
                request = complete
                phase = .handling
                output = []
                return complete
            }
            if parser.takeContinue() { output += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
        } catch { reject(error, now: now) }
        return nil
    }

    private mutating func reject(_ error: HTTPRequestError, now: Duration) {
        let response = ServedResponse.refusal(status: error.status, error.description).response
        write(responseBytes(for: response, method: nil, keepsAlive: false, date: date())[...], next: .drain, now: now)
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>, next: AfterWriting, now: Duration) {
        output = bytes
        phase = .writing(deadline: now + limits.timeout, next: next)
        if bytes.isEmpty { _ = recordWrite(of: 0, now: now) }
    }
}
