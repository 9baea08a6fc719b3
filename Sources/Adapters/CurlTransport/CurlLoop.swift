import CCurl
import HTTPMessages
import LinuxPlatform
import ReportedText

/// The event loop of libcurl's thread. Each iteration reads messages, lets libcurl transfer data, delivers finished
/// transfers, and waits.
struct CurlLoop {
    private let multi: CurlMulti
    private let mailbox: CurlMailbox
    private let options: CurlTransportOptions
    private var transfers: [CurlEasy.Identity: CurlTransfer] = [:]
    /// The exchanges that wait because the maximum number of transfers is already running, oldest first.
    private var waitingExchanges: [CurlExchange] = []
    private var places: TransferPlaces
    /// Whether the next transfer must avoid idle connections and cached addresses, because they may be out of date.
    private var needsFreshConnection = false
    /// The route to each server, by origin. Entries are never removed, because a configuration names only a few
    /// origins.
    private var routes: [String: ServerRoute] = [:]

    init(multi: CurlMulti, mailbox: CurlMailbox, options: CurlTransportOptions) {
        self.multi = multi
        self.mailbox = mailbox
        self.options = options
        places = TransferPlaces(maximumConnections: options.maximumConnections)
        multi.limitConnections(to: places.connections)
    }

    /// Runs until the transport is released. Exchanges that are unfinished at that time are cancelled.
    consuming func run() {
        while true {
            for message in mailbox.takeMessages() {
                switch message {
                case .start(let exchange) where exchange.isCancelled: exchange.finishCancelled(.cancelled)
                case .start(let exchange): waitingExchanges.append(exchange)
                case .cancel(let exchange): cancel(exchange)
                case .networkChanged: networkChanged()
                case .stop: return stop()
                }
            }
            startWaitingExchanges()
            multi.perform()
            while let (identity, code) = multi.nextFinishedTransfer() {
                if let transfer = transfers[identity] { complete(transfer, with: code) }
            }
            endExpiredTransfers()
            startWaitingExchanges()
            multi.wait(for: timeToNextDeadline())
        }
    }

    private mutating func stop() {
        for transfer in transfers.values {
            finish(transfer, with: transfer.failure(.cancelled, .transportClosed))
        }
        for exchange in waitingExchanges { exchange.finishCancelled(.transportClosed) }
    }

    /// Starts the next waiting exchanges, up to the maximum number of running transfers.
    private mutating func startWaitingExchanges() {
        while transfers.count < places.transfers, !waitingExchanges.isEmpty { start(waitingExchanges.removeFirst()) }
    }

    /// Starts an exchange. If the exchange is being repeated, `deadline` is its original deadline.
    private mutating func start(_ exchange: CurlExchange, until deadline: ContinuousClock.Instant? = nil) {
        let origin = exchange.request.url.origin
        guard !exchange.isCancelled else {
            exchange.finishCancelled(.cancelled)
            return
        }
        do throws(HTTPTransportError) {
            let transfer = try CurlTransfer(
                exchange, options: options, multi: multi, route: routes[origin] ?? ServerRoute(),
                until: deadline ?? .now.advanced(by: exchange.request.limits.total))
            if needsFreshConnection { transfer.useFreshConnection() }
            needsFreshConnection = false
            guard multi.add(transfer.easy) else {
                throw HTTPTransportError(.transferRejected, to: origin)
            }
            multi.sockets.beginExchange(allowing: exchange.request.limits)
            transfers[transfer.easy.identity] = transfer
        } catch {
            exchange.finish(.failure(error))
        }
    }

    /// Cancels an exchange that is waiting or running. Has no effect if the exchange has finished. Closes the
    /// exchange's connection, because a hanging connection may be the reason for the cancellation.
    private mutating func cancel(_ exchange: CurlExchange) {
        guard let transfer = transfers.values.first(where: { $0.exchange === exchange }) else {
            return exchange.finishCancelled(.cancelled)
        }
        transfer.abandonConnection()
        finish(transfer, with: transfer.cancellation)
    }

    /// Ends the transfers that have no connection yet, because their route may be gone and they have sent nothing. Idle
    /// connections may be dead, so they aren't reused.
    private mutating func networkChanged() {
        needsFreshConnection = true
        for transfer in transfers.values where !transfer.isConnected {
            transfer.abandonConnection()
            finish(transfer, with: transfer.failure(.connectionFailed, .networkChanged))
        }
        for origin in routes.keys { routes[origin]?.reset() }
    }

    private mutating func endExpiredTransfers() {
        let now = ContinuousClock.now
        for transfer in transfers.values where now >= transfer.deadline {
            transfer.abandonConnection()
            finish(transfer, with: transfer.timeout)
        }
    }

    /// Handles a transfer that libcurl has completed with `code`. Repeats the exchange if it was limited to one address
    /// family, and no connection could be made over that family.
    private mutating func complete(_ transfer: CurlTransfer, with code: CURLcode) {
        let origin = transfer.exchange.request.url.origin
        let couldNotConnect = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT]
        if transfer.onlyFamily != nil, couldNotConnect.contains(code), !transfer.isConnected,
            routes[origin]?.recordFailedConnect(isResolved: code == CURLE_COULDNT_CONNECT) == true
        {
            remove(transfer)
            needsFreshConnection = true
            return start(transfer.exchange, until: transfer.deadline)
        }
        finish(transfer, with: transfer.outcome(for: code))
    }

    /// Updates the route according to the outcome, removes the handle from libcurl, and resumes the waiting task with
    /// `outcome`.
    private mutating func finish(_ transfer: CurlTransfer, with outcome: CurlExchange.Outcome) {
        let origin = transfer.exchange.request.url.origin
        var outcome = outcome
        switch outcome {
        case .success(let response):
            if places.recordAnswer(overHTTP2: transfer.answeredOverHTTP2) {
                multi.limitConnections(to: places.connections)
            }
            if routes[origin, default: ServerRoute()].recordResponse(status: response.status) {
                needsFreshConnection = true
            }
        case .failure(let error):
            if ServerRoute.isDueToRoute(error.code) { needsFreshConnection = true }
            guard ServerRoute.mayBeDueToFamily(error.code, isConnected: transfer.isConnected, after: transfer.age)
            else {
                break
            }
            if let family = transfer.newConnectionFamily {
                routes[origin, default: ServerRoute()].recordFailure(over: family)
                let next = routes[origin]?.family.map { "; \($0.rawValue) is next" } ?? ""
                outcome = .failure(error.withRoute("over \(family.rawValue)\(next)"))
            } else if transfer.onlyFamily != nil {
                // The name wasn't resolved in time for the only allowed family, so the next exchange may use either
                // family.
                _ = routes[origin]?.recordFailedConnect(isResolved: false)
            }
        }
        remove(transfer)
        transfer.exchange.finish(outcome)
    }

    private mutating func remove(_ transfer: CurlTransfer) {
        multi.remove(transfer.easy)
        multi.sockets.endExchange()
        transfers[transfer.easy.identity] = nil
    }

    /// Returns the time until the earliest deadline of a transfer; an hour if no transfer is running. Messages and
    /// libcurl's own deadlines end the wait earlier.
    private func timeToNextDeadline() -> Duration {
        guard let next = transfers.values.map(\.deadline).min() else { return .seconds(3600) }
        return max(.zero, ContinuousClock.now.duration(to: next))
    }
}

extension HTTPTransportError {
    /// Returns this error with a description of the route, such as "over IPv6; IPv4 is next".
    fileprivate func withRoute(_ route: ReportedText) -> Self {
        Self(
            code, detail, certificateFault: certificateFault, tlsFault: tlsFault, proxyFault: proxyFault,
            traffic: traffic, route: route)
    }
}

/// A queue of messages from tasks to libcurl's thread. Each message wakes the thread.
final class CurlMailbox: Sendable {
    enum Message: Sendable {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case networkChanged
        /// The last message, which ends the thread.
        case stop
    }

    private let messages = Locked<[Message]>([])
    private let multi: CurlMulti

    init(multi: CurlMulti) { self.multi = multi }

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        multi.wakeUp()
    }

    /// Removes and returns all messages. Call it only on libcurl's thread.
    func takeMessages() -> [Message] { messages.withLock { exchange(&$0, with: []) } }
}
