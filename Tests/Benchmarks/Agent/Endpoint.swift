import FoundationEssentials
import WaypostTestSupport

/// The endpoint of the service's uploads: nginx with TLS if it is installed, otherwise the plain server.
struct Endpoint {
    let address: String
    /// nginx with TLS and HTTP/2; `nil` if it isn't installed.
    let nginx: NginxServer?
    /// A file with nginx's and the system's certificate authorities, as large as a real one; `nil` without nginx.
    let caFile: String?

    init(_ engine: StandInFleetEngine, in workplace: Workplace) async throws {
        guard NginxServer.isAvailable else {
            (address, nginx, caFile) = ("http://\(engine.address)", nil, nil)
            return
        }
        let nginx = try await NginxServer(answer: StandInFleetEngine.vehicleAnswer)
        let file = workplace.path("authorities.pem")
        let system = (try? Data(contentsOf: URL(filePath: "/etc/ssl/certs/ca-certificates.crt"))) ?? Data()
        try (Data(contentsOf: URL(filePath: nginx.caFile)) + system).write(to: URL(filePath: file))
        (address, self.nginx, caFile) = ("https://localhost:\(nginx.port)", nginx, file)
    }
}

extension StandInFleetEngine {
    /// Fleet Engine's answer to an update, which is the vehicle as JSON.
    static let vehicleAnswer =
        #"{"name":"providers/\#(Workplace.provider)/vehicles/\#(Workplace.vehicle)","vehicleState":"ONLINE"}"#

    /// Waits for the request that follows the first `count` requests, and returns its time.
    func arrivalTime(ofRequestAfter count: Int) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        while ContinuousClock.now < deadline {
            let arrivals = arrivals
            if arrivals.count > count { return arrivals[count].at }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw BenchmarkError("no request arrived within 5 s of an epoch")
    }
}
