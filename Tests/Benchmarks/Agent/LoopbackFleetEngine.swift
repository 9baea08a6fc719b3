import HTTPMessages
import HTTPService
import LinuxPlatform

/// The least server that takes an update, so that its own cost is small: it notes when a request has come.
///
/// Tokens come from the simulator; this one does not look at them.
struct LoopbackFleetEngine {
    static let provider = "benchmark"
    static let vehicle = "van-7"
    /// The vehicle as an answer to its update.
    static let answer = "{\"name\":\"providers/\(provider)/vehicles/\(vehicle)\",\"vehicleState\":\"ONLINE\"}"

    private let service: HTTPService
    private let arrivals = Locked<[ContinuousClock.Instant]>([])

    init() throws(ListenError) {
        let arrivals = arrivals
        service = try HTTPService(listeningOn: .loopback(host: "127.0.0.1", port: 0)) { _ in
            arrivals.withLock { $0.append(ContinuousClock.now) }
            return ServedResponse(status: 200, contentType: "application/json", Self.answer)
        }
    }

    var address: LocalAddress { service.address }

    func run() async { await service.run() }

    /// How many requests have come.
    var count: Int { arrivals.withLock { $0.count } }

    /// When the request after the first `count` came; waits for it.
    func arrival(after count: Int) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        while ContinuousClock.now < deadline {
            if let arrival = arrivals.withLock({ $0.count > count ? $0[count] : nil }) { return arrival }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw BenchmarkError("no request came within 5 s of an epoch")
    }
}
