import CCurl
import HTTPMessages
import LinuxPlatform
import ReportedText

/// The life of libcurl's thread: take messages, let libcurl work, hand out what is finished, wait.
struct CurlLoop {
    private let multi: CurlMulti
    private let mailbox: CurlMailbox
    private let options: CurlTransportOptions
    private var transfers: [CurlEasy.Identity: CurlTransfer] = [:]
    /// Exchanges that wait for a place, in their order.
    private var waiting = ExchangeQueue()
    private var places: TransferPlaces
    /// Whether connections that lie idle may be dead, and addresses may have changed.
    private var startsAfresh = false
    /// By origin, of which a configuration names a few.
    private var routes: [String: ServerRoute] = [:]

    init(multi: CurlMulti, mailbox: CurlMailbox, options: CurlTransportOptions) {
        self.multi = multi
        self.mailbox = mailbox
        self.options = options
        places = TransferPlaces(mostConnections: options.mostConnections)
        multi.limitConnections(to: places.connections)
    }

    /// Until the transport is released; no exchange is left without an answer.
    consuming func run() {
        while true {
            for message in mailbox.take() {
                switch message {
                case .start(let exchange) where exchange.isCancelled: exchange.finishCancelled("cancelled")
                case .start(let exchange): waiting.append(exchange)
                case .cancel(let exchange): cancel(exchange)
                case .networkChanged: networkChanged()
                case .stop: return stop()
                }
            }
            startWaiting()
            multi.perform()
            while let (identity, code) = multi.nextFinished() {
                if let transfer = transfers[identity] { ended(transfer, code) }
            }
            endLate()
            startWaiting()
            multi.wait(timeToNextDeadline())
        }
    }

    private mutating func stop() {
        for transfer in transfers.values {
            finish(transfer, with: transfer.outcome(.cancelled, "the transport was closed"))
        }
        while let exchange = waiting.next() { exchange.finishCancelled("the transport was closed") }
    }

    /// As many as there are places.
    private mutating func startWaiting() {
        while transfers.count < places.transfers, let exchange = waiting.next() { start(exchange) }
    }

    /// Starts an exchange, or repeats one, which keeps its deadline.
    private mutating func start(_ exchange: CurlExchange, until deadline: ContinuousClock.Instant? = nil) {
        let origin = exchange.request.url.origin
        guard !exchange.isCancelled else {
            exchange.finishCancelled("cancelled")
            return
        }
        do throws(HTTPTransportError) {
            let transfer = try CurlTransfer(
                exchange, options: options, multi: multi, route: routes[origin] ?? ServerRoute(),
                until: deadline ?? .now.advanced(by: exchange.request.limits.total))
            if startsAfresh { transfer.startAfresh() }
            startsAfresh = false
            guard multi.add(transfer.easy) else {
                throw HTTPTransportError(.transportFailed, "\(origin): libcurl took no further transfer")
            }
            multi.sockets.exchangeBegan(allowing: exchange.request.limits)
            transfers[transfer.easy.identity] = transfer
        } catch {
            exchange.finish(.failure(error))
        }
    }

    /// Ends an exchange that may be finished already, or not begun. Its connection goes too: it may be the reason for
    /// the abort.
    private mutating func cancel(_ exchange: CurlExchange) {
        guard let transfer = transfers.values.first(where: { $0.exchange === exchange }) else {
            return exchange.finishCancelled("cancelled")
        }
        transfer.abandonConnection()
        finish(transfer, with: transfer.outcome(.cancelled, "cancelled"))
    }

    /// What lies idle may be dead. What is still being connected, or looked up, uses a route that is gone; nothing
    /// of it has been sent.
    private mutating func networkChanged() {
        startsAfresh = true
        for transfer in transfers.values where !transfer.isConnected {
            transfer.abandonConnection()
            finish(transfer, with: transfer.outcome(.connectionFailed, "the network changed while connecting"))
        }
        for origin in routes.keys { routes[origin]?.networkChanged() }
    }

    private mutating func endLate() {
        let now = ContinuousClock.now
        for transfer in transfers.values where now >= transfer.deadline {
            let limit = transfer.exchange.request.limits.total.formattedSeconds
            transfer.abandonConnection()
            finish(transfer, with: transfer.outcome(.timedOut, "no complete answer within \(limit)"))
        }
    }

    /// libcurl is done with the transfer.
    private mutating func ended(_ transfer: CurlTransfer, _ code: CURLcode) {
        let origin = transfer.exchange.request.url.origin
        let madeNone = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT].contains(code)
        if transfer.onlyFamily != nil, madeNone, !transfer.isConnected,
            routes[origin]?.couldNotConnect(isResolved: code == CURLE_COULDNT_CONNECT) == true
        {
            remove(transfer)
            startsAfresh = true
            return start(transfer.exchange, until: transfer.deadline)
        }
        finish(transfer, with: transfer.outcome(code))
    }

    /// Takes the handle out of libcurl before the task hears of it.
    private mutating func finish(_ transfer: CurlTransfer, with outcome: CurlExchange.Outcome) {
        let origin = transfer.exchange.request.url.origin
        var outcome = outcome
        switch outcome {
        case .success(let response):
            if places.answered(overHTTP2: transfer.answeredOverHTTP2) {
                multi.limitConnections(to: places.connections)
            }
            if routes[origin, default: ServerRoute()].answered(status: response.status) { startsAfresh = true }
        case .failure(let error):
            if ServerRoute.isOfRoute(error.code) { startsAfresh = true }
            guard ServerRoute.isOfFamily(error.code, isConnected: transfer.isConnected, after: transfer.age) else {
                break
            }
            if let family = transfer.newConnectionFamily {
                routes[origin, default: ServerRoute()].failed(over: family)
                let next = routes[origin]?.family.map { "; \($0.rawValue) is next" } ?? ""
                outcome = .failure(error.over("over \(family.rawValue)\(next)"))
            } else if transfer.onlyFamily != nil {
                // The name wasn't resolved in time. The next exchange uses any family.
                _ = routes[origin]?.couldNotConnect(isResolved: false)
            }
        }
        remove(transfer)
        transfer.exchange.finish(outcome)
    }

    private mutating func remove(_ transfer: CurlTransfer) {
        multi.remove(transfer.easy)
        multi.sockets.exchangeEnded()
        transfers[transfer.easy.identity] = nil
    }

    /// Without transfers only a message ends the wait; libcurl looks after its own deadlines.
    private func timeToNextDeadline() -> Duration {
        guard let next = transfers.values.map(\.deadline).min() else { return .seconds(3600) }
        return max(.zero, ContinuousClock.now.duration(to: next))
    }
}

extension HTTPTransportError {
    /// The same of a connection that was made so.
    fileprivate func over(_ route: ReportedText) -> Self {
        Self(
            code, detail, certificateFault: certificateFault, proxyFault: proxyFault, traffic: traffic, route: route)
    }
}

/// First come, first served.
private struct ExchangeQueue {
    private var exchanges: [CurlExchange?] = []
    private var first = 0

    mutating func append(_ exchange: CurlExchange) { exchanges.append(exchange) }

    mutating func next() -> CurlExchange? {
        guard first < exchanges.count else { return nil }
        defer {
            exchanges[first] = nil
            first += 1
            if first > exchanges.count / 2 {
                exchanges.removeFirst(first)
                first = 0
            }
        }
        return exchanges[first]
    }
}

/// How tasks reach libcurl's thread: they leave a message and wake it.
final class CurlMailbox: Sendable {
    /// What the thread is asked to do.
    enum Message: Sendable {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case networkChanged
        /// The last message.
        case stop
    }

    private let messages = Locked<[Message]>([])
    private let multi: CurlMulti

    init(multi: CurlMulti) { self.multi = multi }

    func leave(_ message: Message) {
        messages.withLock { $0.append(message) }
        multi.wakeUp()
    }

    /// Everything left since the last call; for the thread.
    func take() -> [Message] { messages.withLock { exchange(&$0, with: []) } }
}
