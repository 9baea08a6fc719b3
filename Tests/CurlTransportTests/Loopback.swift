import CurlTransport
import HTTPMessages
import HTTPService
import LinuxPlatform
import Testing

/// Servers on loopback for these tests.
enum Loopback {
    static let hasIPv6 = (try? ListeningSocket(on: .loopback(host: "::1", port: 0))) != nil

    static func makeTransport(caFile: String? = nil) throws -> CurlTransport {
        try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/test", caFile: caFile))
    }

    /// Serves `handler` during `body`, which is given the address.
    static func serve(
        _ handler: @escaping HTTPService.Handler, during body: (_ url: String) async throws -> Void
    ) async throws {
        let service = try HTTPService(
            listeningOn: .loopback(host: "127.0.0.1", port: 0), limits: HTTPServiceLimits(connections: 256),
            handler: handler)
        try await withThrowingTaskGroup { group in
            group.addTask { await service.run() }
            try await body("http://\(service.address)")
            group.cancelAll()
        }
    }
}
