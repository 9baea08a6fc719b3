import FoundationEssentials
import WaypostTestSupport

/// Where the service uploads to: through TLS where nginx is installed, else to the bare server.
struct Endpoint {
    let address: String
    /// nginx in front of a Fleet Engine that speaks TLS and HTTP/2.
    let front: NginxServer?
    /// Trusts its certificate, and whatever the system trusts beside it: as large as a real one.
    let caFile: String?

    init(_ engine: StandInFleetEngine, in workplace: Workplace) async throws {
        guard NginxServer.isAvailable else {
            (address, front, caFile) = ("http://\(engine.address)", nil, nil)
            return
        }
        let front = try await NginxServer(answer: StandInFleetEngine.vehicleAnswer)
        let file = workplace.path("authorities.pem")
        let system = (try? Data(contentsOf: URL(filePath: "/etc/ssl/certs/ca-certificates.crt"))) ?? Data()
        try (Data(contentsOf: URL(filePath: front.caFile)) + system).write(to: URL(filePath: file))
        (address, self.front, caFile) = ("https://localhost:\(front.port)", front, file)
    }
}

extension StandInFleetEngine {
    /// The vehicle as an answer to its update.
    static let vehicleAnswer =
        #"{"name":"providers/\#(Workplace.provider)/vehicles/\#(Workplace.vehicle)","vehicleState":"ONLINE"}"#

    /// When the request after the first `count` came; waits for it.
    func arrival(after count: Int) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        while ContinuousClock.now < deadline {
            let arrivals = arrivals
            if arrivals.count > count { return arrivals[count].at }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw BenchmarkError("no request came within 5 s of an epoch")
    }
}
