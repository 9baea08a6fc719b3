/// Where the service uploads to: through TLS where nginx is installed, else to the bare server.
struct Endpoint {
    let address: String
    let front: NginxFront?

    init(_ front: NginxFront?, or engine: LoopbackFleetEngine) {
        (address, self.front) = (front?.endpoint ?? "http://\(engine.address)", front)
    }
}
