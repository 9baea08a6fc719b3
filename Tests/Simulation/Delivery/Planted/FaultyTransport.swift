import HTTPMessages
import ReportedText

/// A transport that reports wrong results.
struct FaultyTransport: HTTPTransport {
    let base: any HTTPTransport
    let bug: PlantedBug
    let world: World

    func networkChanged() { base.networkChanged() }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        switch bug {
        case .leaksATask: _ = Task { [world] in await world.clock.wait(for: .seconds(36_000)) }
        case .ignoresCancellation:
            let rest = Task { [base] () -> Result<HTTPResponse, HTTPTransportError> in
                do throws(HTTPTransportError) { return .success(try await base.send(request)) } catch {
                    return .failure(error)
                }
            }
            return try await rest.value.get()
        default: break
        }
        let answer: HTTPResponse
        do { answer = try await base.send(request) } catch {
            switch (bug, error.code) {
            case (.countsUnsentAsDelivered, .timedOut), (.countsUnsentAsDelivered, .connectionLost):
                return successResponse(to: request)
            case (.ignoresTheNetwork, .nameNotResolved), (.ignoresTheNetwork, .connectionFailed):
                throw HTTPTransportError(.responseTooLarge, "a failure that the network's return does not end")
            default: throw error
            }
        }
        switch (bug, answer.status) {
        case (.dropsOn401, 401): return successResponse(to: request)
        case (.quarantinesOn503, 500...599):
            return HTTPResponse(
                status: 400, body: Array(#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":""}}"#.utf8))
        case (.acknowledgesAllAfter413, 413): return successResponse(to: request)
        default: return answer
        }
    }

    private func successResponse(to request: HTTPRequest) -> HTTPResponse {
        let name = request.url.target.dropFirst("/v1/".count).prefix { $0 != "?" }
        return HTTPResponse(status: 200, body: Array("{\"name\":\"\(name)\"}".utf8))
    }
}
