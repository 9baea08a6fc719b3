import FleetEngineSimulator
import HTTPMessages
import HTTPService
import LinuxPlatform
import WaypostTestSupport

/// A backend in front of the simulator's token issuer. It can answer with a login page, and remembers every token that
/// passed through.
final class TokenBackend: Sendable {
    private struct State {
        var pagesLeft: Int
        var tokens: [String] = []
    }

    let url: String
    private let state: Locked<State>
    private let serving: Task<Void, Never>

    /// Creates a backend that answers with `pages` pages first, then with tokens.
    init(of simulator: FleetEngineSimulator, pages: Int) throws {
        let issuer = try LocalAddress(String(simulator.baseURL.origin.dropFirst("http://".count)))
        let state = Locked(State(pagesLeft: pages))
        let service = try HTTPService(listeningOn: .loopback(host: "127.0.0.1", port: 0)) { request in
            let isPage = state.withLock { state in
                defer { if state.pagesLeft > 0 { state.pagesLeft -= 1 } }
                return state.pagesLeft > 0
            }
            guard !isPage else {
                return ServedResponse(status: 200, contentType: "text/html", "<html><body>Please log in</body></html>")
            }
            let path = request.target.prefix { $0 != "?" }
            let body = await RawExchange.get(path, from: issuer).body
            guard !body.isEmpty else { return .refusal(status: 502, "the issuer does not answer") }
            if let token = body.firstMatch(of: /eyJ[\w.-]+/) {
                state.withLock { $0.tokens.append(String(token.output)) }
            }
            return ServedResponse(status: 200, contentType: "application/json", body)
        }
        url = "http://\(service.address)/token/driver/{vehicleId}"
        self.state = state
        serving = Task { await service.run() }
    }

    deinit { serving.cancel() }

    /// Makes the backend answer only with tokens from now on.
    func answerWithTokens() { state.withLock { $0.pagesLeft = 0 } }

    var tokens: [String] { state.withLock { $0.tokens } }
}
