import BenchmarkReport
import FoundationEssentials
import LinuxPlatform
import WaypostTestSupport

/// A reference: a request as large as an update's, written to an open connection.
struct BareRequest: ~Copyable {
    private static let request = """
        PUT /v1/providers/benchmark/vehicles/van-7?updateMask=vehicleState,lastLocation HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer \(String(repeating: "x", count: 830))\r
        Content-Type: application/json\r
        Content-Length: 260\r
        \r
        \(String(repeating: " ", count: 260))
        """

    private let connection: OwnedDescriptor
    private let engine: StandInFleetEngine

    init(to engine: StandInFleetEngine) throws {
        connection = try connectedSocket(to: engine.address)
        self.engine = engine
    }

    /// Returns the time from before the request is written until the server has it.
    func latency() async throws -> Duration {
        let before = engine.arrivals.count
        let sent = ContinuousClock.now
        try connection.writeAll(Array(Self.request.utf8).span)
        let arrival = try await engine.arrivalTime(ofRequestAfter: before)
        var answer = [UInt8](repeating: 0, count: 4096)
        var span = answer.mutableSpan
        guard try connection.read(into: &span) > 0 else { throw BenchmarkError("the server closed the connection") }
        return sent.duration(to: arrival)
    }
}
