/// The state of one connection: when to read and write, which request is next, when to close.
///
/// Bytes, answers and times come in, decisions are read off; sockets are left to `ServiceLoop`. Times are those of a
/// monotonic clock, counted from any fixed moment. One request at a time: bytes behind it wait in the parser.
struct HTTPConnection {
    enum Ending: Sendable, Hashable {
        /// An orderly end (FIN).
        case close
        /// A reset (RST).
        case reset
    }

    private enum Phase {
        /// Waits for a request until `deadline`.
        case reading(deadline: Duration)
        /// A request is with the handler.
        case handling
        /// The answer waits for its time.
        case delaying(until: Duration, ServedResponse)
        /// `output` goes out, and then comes `next`.
        case writing(deadline: Duration, next: AfterWriting)
        /// Silence until the client leaves.
        case stalled
        /// The answer is sent; so much of what still arrives is dropped, then no more is read: closing at once would
        /// reset the answer away.
        case draining(deadline: Duration, left: Int)
        case ended(Ending)
    }

    private enum AfterWriting { case nextRequest, stall, reset, drain }

    /// What a client may well have sent before it hears that it is refused. Who sends without end would otherwise send
    /// all the faster, and mostly at this side's expense: the kernel takes the next packets when it is read.
    private static let dropped = 1 << 16

    private let limits: HTTPServiceLimits
    private let names: AllowedHosts
    private var parser: HTTPRequestParser
    private var phase: Phase
    private var request: ServedRequest?
    private var hasRequestBytes = false
    /// What is to be written next.
    private(set) var output: ArraySlice<UInt8> = []
    /// When it asked for something last; a new one counts as if it asked a second after it was opened, so that it is
    /// not behind all others before its request can be there.
    private(set) var lastAsked: Duration

    init(limits: HTTPServiceLimits, names: AllowedHosts, now: Duration) {
        self.limits = limits
        self.names = names
        lastAsked = now + .seconds(1)
        parser = HTTPRequestParser(limits: limits)
        phase = .reading(deadline: now + limits.idle)
    }

    /// Whether it may be closed for a newer one: no answer for it is in progress.
    var canGiveWay: Bool {
        switch phase {
        case .handling, .delaying: false
        default: true
        }
    }

    var wantsToRead: Bool {
        switch phase {
        case .reading, .stalled: true
        case .draining(_, let left): left > 0
        default: false
        }
    }

    var wantsToWrite: Bool { !output.isEmpty }

    /// Whether more has come than the requests that were taken.
    var holdsMore: Bool { !parser.isBetweenRequests }

    /// Whether the client is to see the end of the stream while its own bytes are still drained.
    var hasSentEverything: Bool { if case .draining = phase { true } else { false } }

    var ending: Ending? { if case .ended(let ending) = phase { ending } else { nil } }

    /// When `tick` is due.
    var deadline: Duration? {
        switch phase {
        case .reading(let deadline), .writing(let deadline, _), .draining(let deadline, _): deadline
        case .delaying(let until, _): until
        case .handling, .stalled, .ended: nil
        }
    }

    /// Bytes from the client; the request that they complete.
    mutating func receive(_ bytes: some Collection<UInt8>, now: Duration, date: String) -> ServedRequest? {
        if case .draining(let deadline, let left) = phase {
            phase = .draining(deadline: deadline, left: left - bytes.count)
        }
        guard case .reading = phase else { return nil }  // stalled or draining
        parser.append(bytes)
        return nextRequest(now: now, date: date)
    }

    /// The client sends no more.
    mutating func receiveEnd() {
        if wantsToRead { phase = .ended(.close) }
    }

    /// The handler's answer.
    mutating func answer(_ response: ServedResponse, now: Duration, date: String) {
        guard case .handling = phase else { return }
        phase = .delaying(until: now + response.delay, response)
        if response.delay <= .zero { startWriting(response, now: now, date: date) }
    }

    /// The socket took `count` bytes of `output`; the next request, if it has arrived already.
    mutating func wrote(_ count: Int, now: Duration, date: String) -> ServedRequest? {
        output.removeFirst(count)
        guard output.isEmpty, case .writing(_, let next) = phase else { return nil }
        switch next {
        case .nextRequest:
            hasRequestBytes = false
            phase = .reading(deadline: now + limits.idle)
            return nextRequest(now: now, date: date)
        case .stall: phase = .stalled
        case .reset: phase = .ended(.reset)
        case .drain: phase = .draining(deadline: now + .seconds(2), left: Self.dropped)
        }
        return nil
    }

    /// The deadline has come.
    mutating func tick(now: Duration, date: String) {
        guard let deadline, now >= deadline else { return }
        switch phase {
        case .delaying(_, let response): startWriting(response, now: now, date: date)
        case .reading where !parser.isBetweenRequests:
            refuse(.refusal(status: 408, HTTPRequestError.timedOut.description), now: now, date: date)
        case .reading, .draining: phase = .ended(.close)
        case .writing: phase = .ended(.reset)
        case .handling, .stalled, .ended: break
        }
    }

    /// The socket has ended: nothing can be sent any more.
    mutating func fail() { phase = .ended(.close) }

    private mutating func nextRequest(now: Duration, date: String) -> ServedRequest? {
        do {
            if let complete = try parser.next() {
                try names.check(complete)
                request = complete
                lastAsked = now
                phase = .handling
                output = []
                return complete
            }
            if parser.takeContinue() { output += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
            if !hasRequestBytes, !parser.isBetweenRequests {
                hasRequestBytes = true
                phase = .reading(deadline: now + limits.exchange)
            }
        } catch {
            refuse(.refusal(status: error.status, error.description), now: now, date: date)
        }
        return nil
    }

    /// Answers with an error and ends the connection.
    private mutating func refuse(_ response: ServedResponse, now: Duration, date: String) {
        lastAsked = now
        output = renderedResponse(response.response, to: nil, keepsAlive: false, date: date)[...]
        phase = .writing(deadline: now + limits.exchange, next: .drain)
    }

    private mutating func startWriting(_ served: ServedResponse, now: Duration, date: String) {
        let keepsAlive = request?.keepsAlive ?? false
        let rendered = renderedResponse(served.response, to: request?.method, keepsAlive: keepsAlive, date: date)
        let next: AfterWriting
        switch served.delivery {
        case .whole:
            output = rendered[...]
            next = keepsAlive ? .nextRequest : .drain
        case .stall(let count):
            output = rendered.prefix(count)
            next = .stall
        case .reset(let count):
            output = rendered.prefix(count)
            next = .reset
        case .drop:
            phase = .ended(.close)
            return
        }
        phase = .writing(deadline: now + limits.exchange, next: next)
        if output.isEmpty { _ = wrote(0, now: now, date: date) }
    }
}
