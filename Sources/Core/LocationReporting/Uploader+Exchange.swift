import HTTPMessages
import ReportedText

/// One request under way, and what gives it up.
extension Uploader {
    /// How long an exchange under way may still take when the network has changed beneath it.
    static let graceAfterNetworkChange = Duration.seconds(2)
    /// How long a newer position waits for the answer to older ones.
    static let patienceWithBacklog = Duration.seconds(3)

    /// How an exchange ended.
    enum ExchangeEnd {
        case answered(HTTPResponse)
        case failed(HTTPTransportError)
        case givenUp(GivingUp, HTTPTraffic)
    }

    private enum Part {
        case sent(Result<HTTPResponse, HTTPTransportError>)
        case lostPatience(GivingUp)
    }

    /// One exchange, until its answer or the end of our patience. Giving it up closes its connection.
    func exchange(_ request: HTTPRequest, for batch: UploadBatch) async -> ExchangeEnd {
        let (returns, networkListener) = Self.makeListener()
        let (newer, newerListener) = Self.makeListener()
        (self.networkListener, self.newerListener) = (networkListener, newerListener)
        defer { (self.networkListener, self.newerListener) = (nil, nil) }
        if hasNewer { newerListener.yield() }
        let returnsBefore = networkReturns
        let (result, reason) = await withTaskGroup(of: Part.self) { group in
            group.addTask { [transport] in
                do throws(HTTPTransportError) { return .sent(.success(try await transport.send(request))) } catch {
                    return .sent(.failure(error))
                }
            }
            group.addTask { [clock] in
                for await _ in returns { break }
                await clock.sleep(for: Self.graceAfterNetworkChange)
                return .lostPatience(.networkChanged)
            }
            // A light batch has hardly more to carry than the newer position itself: on the slowest link there must be
            // something that is waited for.
            if batch.past.count > BatchSize.light {
                group.addTask { [clock] in
                    for await _ in newer { break }
                    await clock.sleep(for: Self.patienceWithBacklog)
                    return .lostPatience(.newerPosition)
                }
            }
            // Whichever ends first ends the others; the exchange answers in any case, perhaps with what came just then.
            var reason: GivingUp?
            var result: Result<HTTPResponse, HTTPTransportError>?
            for await part in group {
                switch part {
                case .sent(let sent): result = sent
                case .lostPatience(let lost): if result == nil, reason == nil { reason = lost }
                }
                group.cancelAll()
            }
            return (result, reason)
        }
        let hasNetworkReturned = networkReturns != returnsBefore
        return Self.end(result, givenUpFor: reason ?? (hasNetworkReturned ? .networkChanged : nil))
    }

    private static func end(
        _ result: Result<HTTPResponse, HTTPTransportError>?, givenUpFor reason: GivingUp?
    ) -> ExchangeEnd {
        switch (result, reason) {
        case (.success(let response)?, _): .answered(response)
        // What failed after the network returned says nothing about it, and is made again like what was given up.
        case (.failure(let error)?, let reason?) where error.code == .cancelled || reason == .networkChanged:
            .givenUp(reason, error.traffic)
        case (.failure(let error)?, _): .failed(error)
        case (nil, _): .failed(HTTPTransportError(.cancelled, "cancelled"))
        }
    }
}
