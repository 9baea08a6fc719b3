import HTTPMessages
import VehicleAuthorization

/// What the uploader does when the network comes back: nothing waits for a backoff or a dead connection any longer.
extension Uploader {
    /// How long an exchange under way may still take when the network has changed beneath it.
    static let graceAfterNetworkChange = Duration.seconds(2)

    /// Tells that the network has come back: whatever waits for that goes on at once, on a new connection.
    package func networkReturned() async {
        transport.networkChanged()
        await authorization.networkReturned()
        decisions.networkReturned()
        networkListener?.yield()
    }

    /// Waits for `delay`, or until the network comes back.
    func waitForNetwork(_ delay: Duration, because reason: String) async {
        observer.observe(.waiting(delay: delay, reason: reason))
        let returns = listenForNetwork()
        defer { networkListener = nil }
        await withTaskGroup { group in
            group.addTask { [clock] in await clock.sleep(for: delay) }
            group.addTask { for await _ in returns { return } }
            await group.next()
            group.cancelAll()
        }
    }

    /// One exchange. When the network comes back meanwhile and no answer follows, the connection is taken for dead.
    func exchange(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let returns = listenForNetwork()
        defer { networkListener = nil }
        let result = await withTaskGroup(of: Result<HTTPResponse, HTTPTransportError>?.self) { group in
            group.addTask { [transport] in
                do throws(HTTPTransportError) { return .success(try await transport.send(request)) } catch {
                    return .failure(error)
                }
            }
            group.addTask { [clock] in
                for await _ in returns {
                    await clock.sleep(for: Self.graceAfterNetworkChange)
                    break
                }
                return nil
            }
            // Whichever ends first ends the other; the exchange answers in any case.
            var answer: Result<HTTPResponse, HTTPTransportError>?
            for await result in group {
                answer = answer ?? result
                group.cancelAll()
            }
            return answer
        }
        guard case .failure(let error)? = result, error.code == .cancelled, !Task.isCancelled else {
            return try (result ?? .failure(HTTPTransportError(.cancelled, "cancelled"))).get()
        }
        throw HTTPTransportError(
            .connectionLost, "\(request.url.origin): the network changed, and no answer came on the old connection",
            traffic: error.traffic)
    }

    private func listenForNetwork() -> AsyncStream<Void> {
        let (returns, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        networkListener = listener
        return returns
    }
}
