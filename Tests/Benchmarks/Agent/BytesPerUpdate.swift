import BenchmarkReport
import CurlTransport
import FleetEngine
import HTTPMessages
import LinuxPlatform
import WaypostTestSupport

/// A measurement of an update's bytes on a metered line: the TCP payload on an open connection, including TLS and
/// HTTP/2.
enum BytesPerUpdate {
    private static let updates = 100
    /// The number of requests before the measurement, after which the server's header table has the repeated headers.
    private static let warmUp = 10

    static func measure(in workplace: Workplace, token: String, endpoint: Endpoint) async throws {
        guard let nginx = endpoint.nginx, let caFile = endpoint.caFile else {
            return try BenchmarkCase(
                "agent.bytes-sent-per-update", unit: "B", skipped: "nginx or openssl not installed"
            )
            .print()
        }
        let relay = try ByteRelay(to: .loopback(host: "127.0.0.1", port: nginx.port))
        let address = try HTTPURL("https://localhost:\(relay.port)")
        let agent = try await bytesThroughTransport(to: address, token: token, caFile: caFile, relay: relay)
        let bare = try await bytesThroughCommand(
            to: address, token: token, caFile: caFile, relay: relay, in: workplace)
        try BenchmarkCase("agent.bytes-sent-per-update", agent.sent, "B").keeping(.atMost(1100))
            .against("the curl command, same request", limit: bare?.sent)
            .addingFigure("received", value: agent.received).addingFigure(
                "tokenCharacters", value: Double(token.utf8.count)
            )
            .addingFigure("bodyBytes", value: Double(update(0).body.count)).print()
    }

    private static func bytesThroughTransport(
        to endpoint: HTTPURL, token: String, caFile: String, relay: ByteRelay
    ) async throws -> (sent: Double, received: Double) {
        let transport = try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/0.1.0", caFile: caFile))
        var before = relay.byteCounts
        for number in 0..<warmUp + updates {
            if number == warmUp { before = relay.byteCounts }
            let request = try update(number).request(to: endpoint, token: token, limits: HTTPLimits())
            let response = try await transport.send(request)
            guard response.status == 200 else { throw BenchmarkError("nginx returned status \(response.status)") }
        }
        let after = relay.byteCounts
        return (
            Double(after.fromClient - before.fromClient) / Double(updates),
            Double(after.fromServer - before.fromServer) / Double(updates)
        )
    }

    /// Returns the difference between a long and a short run, which doesn't include the handshake.
    private static func bytesThroughCommand(
        to endpoint: HTTPURL, token: String, caFile: String, relay: ByteRelay, in workplace: Workplace
    ) async throws -> (sent: Double, received: Double)? {
        let update = try update(0)
        let address = try update.vehicle.url(below: endpoint, query: "updateMask=" + update.updateMask)
        var counts = [relay.byteCounts]
        for count in [warmUp, warmUp + updates] {
            let isSent = try await CurlCommand.send(
                update.body,
                headers: [
                    "Authorization: Bearer \(token)", "Content-Type: application/json", "X-Goog-FieldMask: name",
                ],
                to: "\(address)", count: count, caFile: caFile, in: workplace)
            guard isSent else { return nil }
            counts.append(relay.byteCounts)
        }
        let (short, long) = (counts[1], counts[2])
        return (
            Double(long.fromClient - 2 * short.fromClient + counts[0].fromClient) / Double(updates),
            Double(long.fromServer - 2 * short.fromServer + counts[0].fromServer) / Double(updates)
        )
    }

    /// Returns a moving vehicle's update with all fields that a receiver provides.
    private static func update(_ number: Int) throws -> VehicleUpdate {
        var location = VehicleLocation(
            latitude: 48.1173 + Double(number) * 1.37e-4, longitude: 11.5166667 + Double(number) * 2.91e-4,
            timeMillisecondsSince1970: 1_790_000_000_000 + Int64(number) * 10_000)
        location.accuracyMeters = 2.5
        location.headingDegrees = 80 + number % 20
        location.speedMetersPerSecond = 13.89
        location.altitudeMeters = 545.4
        let vehicle = try VehicleName(
            service: .onDemandTrips, providerID: Workplace.provider, vehicleID: Workplace.vehicle)
        return VehicleUpdate(of: vehicle, state: .online, lastLocation: location)
    }
}
