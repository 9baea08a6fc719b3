import FoundationEssentials
import Glibc
import HTTPMessages
import HTTPService
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct HTTPServices {
    private static let loopback = LocalAddress.loopback(host: "127.0.0.1", port: 0)

    /// Runs a service while `body` runs. The service has ended when this function returns.
    private func withService(
        on address: LocalAddress = loopback, limits: HTTPServiceLimits = HTTPServiceLimits(),
        _ handler: @escaping HTTPService.Handler = { request in
            ServedResponse(
                status: 200, contentType: "text/plain",
                "\(request.method.rawValue) \(request.target) \(request.body.count)")
        }, _ body: (LocalAddress) async throws -> Void
    ) async throws {
        let service = try HTTPService(listeningOn: address, limits: limits, handler: handler)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await service.run() }
            try await body(service.address)
            group.cancelAll()
        }
    }

    @Test func answersOnAFreePort() async throws {
        try await withService { address in
            guard case .loopback(_, let port) = address else { return }
            #expect(port != 0)
            let exchange = await RawExchange.send(["GET /x HTTP/1.0\r\n\r\n"], to: address)
            #expect(exchange.ending == .closed)
            #expect(exchange.text.hasSuffix("\r\n\r\nGET /x 0"))
        }
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        try await withService { address in
            let put = "PUT /2 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            let exchange = await RawExchange.send(
                [
                    "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n" + put,
                    "GET /3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                ],
                to: address)
            let bodies = exchange.text.split(separator: "\r\n\r\n").dropFirst().map { $0.prefix { $0 != "H" } }
            #expect(bodies == ["GET /1 0", "PUT /2 3", "GET /3 0"])
        }
    }

    @Test func acceptsALargeBodyAndSendsALargeAnswer() async throws {
        try await withService(
            { request in ServedResponse(HTTPResponse(status: 200, body: request.body + request.body)) },
            { address in
                let body = String(repeating: "x", count: 1 << 20)
                let exchange = await RawExchange.send(
                    [
                        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n",
                        body,
                    ],
                    to: address)
                #expect(exchange.received.count > 2 << 20)
            })
    }

    @Test func rejectsALargeBodyWithoutLosingTheAnswer() async throws {
        try await withService(limits: HTTPServiceLimits(bodyBytes: 100)) { address in
            let exchange = await RawExchange.send(
                [
                    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n",
                    String(repeating: "x", count: 300_000),
                ],
                to: address, endsSending: true)
            #expect(exchange.text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
            #expect(exchange.ending == .closed)
        }
    }

    /// A client that holds every connection, idle or in the middle of a request, shuts no other client out.
    @Test func servesAnotherClientWhileOneHoldsEveryConnection() async throws {
        try await withService(limits: HTTPServiceLimits(connections: 4)) { address in
            var held: [OwnedDescriptorBox] = []
            for number in 0..<20 {
                held.append(OwnedDescriptorBox(try connectedSocket(to: address)))
                if number % 2 == 0 { try held[number].write("GET / HT") }
            }
            let exchange = await RawExchange.send(["GET /x HTTP/1.0\r\n\r\n"], to: address)
            #expect(exchange.text.hasSuffix("\r\n\r\nGET /x 0"))
            withExtendedLifetime(held) {}
        }
    }

    /// A page that reached this address under a foreign name states that name; other clients state a local one.
    @Test(
        arguments: [
            ("GET", "127.0.0.1:9464", nil, 200), ("GET", "localhost:9464", nil, 200), ("GET", "LocalHost", nil, 200),
            ("GET", "[::1]:9464", nil, 200), ("GET", "evil.example.com", nil, 421),
            ("HEAD", "127.0.0.1.evil.example.com:9464", nil, 421), ("DELETE", "evil.example.com", nil, 421),
            ("GET", "localhost", "https://evil.example.com", 403),
            ("DELETE", "localhost", "https://evil.example.com", 403), ("DELETE", "localhost", "null", 403),
            ("DELETE", "localhost", "http://127.0.0.1:8080", 200),
        ] as [(String, String, String?, Int)])
    func answersLocalNamesOnly(method: String, host: String, origin: String?, status: Int) async throws {
        try await withService { address in
            let line = origin.map { "Origin: \($0)\r\n" } ?? ""
            let request = "\(method) / HTTP/1.1\r\nHost: \(host)\r\n\(line)Connection: close\r\n\r\n"
            let exchange = await RawExchange.send([request], to: address)
            #expect(exchange.text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(exchange.ending == .closed)
        }
    }

    @Test func servesManyConnectionsAtOnce() async throws {
        try await withService(limits: HTTPServiceLimits(connections: 50)) { address in
            let good = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let request = "GET /\(number) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        let exchange = await RawExchange.send(
                            Array(repeating: request, count: 10) + ["GET /end HTTP/1.0\r\n\r\n"], to: address)
                        return exchange.text.split(separator: "GET /\(number) 0").count == 11
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(good == 50)
        }
    }

    @Test(
        arguments: [
            (ServedResponse.Delivery.reset(afterBytes: 0), RawExchange.Ending.reset, ""), (.drop, .closed, ""),
            (.reset(afterBytes: 8), .reset, nil),
        ] as [(ServedResponse.Delivery, RawExchange.Ending, String?)])
    func injectsConfiguredFaults(delivery: ServedResponse.Delivery, ending: RawExchange.Ending, text: String?)
        async throws
    {
        try await withService(
            { _ in ServedResponse(HTTPResponse(status: 200), delivery: delivery) },
            { address in
                let exchange = await RawExchange.send(["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"], to: address)
                #expect(exchange.ending == ending)
                if let text { #expect(exchange.text == text) }
            })
    }

    @Test func endsAtOnceWhenCancelled() async throws {
        let service = try HTTPService(listeningOn: Self.loopback) { _ in
            ServedResponse(HTTPResponse(status: 200), delivery: .stall(afterBytes: 5))
        }
        let stalled = await withTaskGroup(of: RawExchange?.self) { group in
            group.addTask {
                await service.run()
                return nil
            }
            let (started, announce) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask {
                await RawExchange.send(["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"], to: service.address) { bytes in
                    if bytes.count == 5 { announce.yield() }
                    return false
                }
            }
            for await _ in started { break }
            group.cancelAll()
            return await group.reduce(nil) { $0 ?? $1 }
        }
        #expect(stalled?.text == "HTTP/")
        #expect(stalled?.ending == .closed)
        #expect(await RawExchange.send([], to: service.address).ending == .notConnected)
    }

    @Test func endsAtOnceIfCancelledBeforeItRuns() async throws {
        let service = try HTTPService(listeningOn: Self.loopback) { _ in ServedResponse(HTTPResponse(status: 200)) }
        await withDiscardingTaskGroup { group in
            group.addTask { await service.run() }
            group.cancelAll()
        }
        #expect(await RawExchange.send([], to: service.address).ending == .notConnected)
    }

    @Test func servesAUnixSocketToItsOwnerOnly() async throws {
        let path = "/tmp/waypost-\(UUID().uuidString)"
        try await withService(on: .unix(path: path)) { address in
            #expect(await RawExchange.send(["GET / HTTP/1.0\r\n\r\n"], to: address).text.hasSuffix("GET / 0"))
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            #expect(throws: ListenError.inUse(address)) { try ListeningSocket(on: address) }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func replacesASocketThatADeadProcessLeft() async throws {
        let path = "/tmp/waypost-\(UUID().uuidString)"
        let dead = try ListeningSocket(on: .unix(path: path))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
        dead.close()
        try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
        try await withService(on: .unix(path: path)) { address in
            #expect(await RawExchange.send(["GET / HTTP/1.0\r\n\r\n"], to: address).text.hasSuffix("GET / 0"))
        }
    }

    @Test func namesThePortAndItsHolder() throws {
        let first = try ListeningSocket(on: Self.loopback)
        let error = #expect(throws: ListenError.self) { try ListeningSocket(on: first.address) }
        #expect(error == .inUse(first.address))
        let message = error?.description ?? ""
        #expect(message.hasPrefix("cannot listen on \(first.address): "))
        #expect(
            message.hasSuffix(") holds it; stop it (kill \(getpid())), or choose another port (0 selects a free one)"))
    }
}

/// A copyable box, because a collection needs copyable elements.
private final class OwnedDescriptorBox: Sendable {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    func write(_ text: String) throws { try descriptor.writeAll(Array(text.utf8).span) }

    func readAll() -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while true {
            var span = buffer.mutableSpan
            guard let count = try? descriptor.read(into: &span), count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite struct ListenAddress {
    @Test(arguments: [
        ("127.0.0.1:0", "127.0.0.1:0"), ("127.1.2.3:80", "127.1.2.3:80"), ("localhost:65535", "localhost:65535"),
        ("[::1]:9464", "[::1]:9464"), ("unix:/run/x.sock", "unix:/run/x.sock"),
    ])
    func isParsed(text: String, description: String) throws {
        #expect(try LocalAddress(text).description == description)
    }

    @Test(arguments: [
        ("", LocalAddress.Problem.malformed("")), ("127.0.0.1", .missingPort(host: "127.0.0.1")),
        ("[::1]", .missingPort(host: "[::1]")), (":80", .missingHost(port: "80")), ("80", .missingHost(port: "80")),
        ("/run/x.sock", .bare(path: "/run/x.sock")), ("192.168.1.1", .malformed("192.168.1.1")),
        ("127.0.0.1:", .malformed("127.0.0.1:")), ("::1:80", .malformed("::1:80")), ("unix:x", .malformed("unix:x")),
        ("127.0.0.1:65536", .invalidPort("65536")), ("127.0.0.1:+1", .invalidPort("+1")),
        ("0.0.0.0:80", .notLoopback(host: "0.0.0.0")), ("192.168.1.1:80", .notLoopback(host: "192.168.1.1")),
        ("[::]:80", .notLoopback(host: "::")), ("example.com:80", .notLoopback(host: "example.com")),
        ("127.1:80", .notLoopback(host: "127.1")),
        ("unix:/" + String(repeating: "x", count: 107), .pathTooLong("/" + String(repeating: "x", count: 107))),
    ])
    func isRejected(text: String, problem: LocalAddress.Problem) {
        #expect(throws: problem) { try LocalAddress(text) }
        #expect(!problem.description.isEmpty)
    }
}
