import BenchmarkReport
import FoundationEssentials
import LinuxPlatform

/// The limit to compare with: a request as large as an update's, written to an open connection by a loop.
enum BareRequest {
    private static let request = """
        PUT /v1/providers/benchmark/vehicles/van-7?updateMask=vehicleState,lastLocation HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer \(String(repeating: "x", count: 830))\r
        Content-Type: application/json\r
        Content-Length: 260\r
        \r
        \(String(repeating: " ", count: 260))
        """

    /// From before the request is written to when the server has it.
    static func latency(to engine: LoopbackFleetEngine, count: Int, pause: Duration) async throws -> Samples {
        let connection = try connectedSocket(to: engine.address)
        let bytes = Array(request.utf8)
        var samples = Samples()
        for _ in 0..<count {
            let before = engine.count
            let sent = ContinuousClock.now
            try connection.writeAll(bytes.span)
            samples.append(sent.duration(to: try await engine.arrival(after: before)))
            var answer = [UInt8](repeating: 0, count: 4096)
            var span = answer.mutableSpan
            guard try connection.read(into: &span) > 0 else { throw BenchmarkError("the server closed the connection") }
            try await Task.sleep(for: pause)
        }
        return samples
    }
}
