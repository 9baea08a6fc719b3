import CurlTransport
import Glibc
import HTTPMessages
import HTTPService
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct Exchange {
    @Test(
        arguments: [
            (HTTPMethod.get, ""), (.post, "x"), (.post, ""), (.put, #"{"a":1}"#), (.put, ""), (.patch, "b"),
            (.delete, ""), (.delete, "why"), (.get, "with a body"),
        ])
    func carriesMethodTargetHeadersAndBody(method: HTTPMethod, body: String) async throws {
        let seen = Locked<ServedRequest?>(nil)
        try await Loopback.serve { request in
            seen.withLock { $0 = request }
            return ServedResponse(
                status: 201, contentType: "text/plain", "héllo", headers: HTTPHeaders(["X-Answer": "a b"]))
        } during: { url in
            let transport = try Loopback.makeTransport()
            let response = try await transport.send(
                HTTPRequest(
                    method, try HTTPURL(url + "/v1/a%2Fb/../c?updateMask=x,y"),
                    headers: HTTPHeaders(["Authorization": "Bearer t", "X-Empty": ""]), body: Array(body.utf8)))
            #expect(response.status == 201)
            #expect(response.headers["x-answer"] == "a b")
            #expect(String(decoding: response.body, as: UTF8.self) == "héllo")
            let request = try #require(seen.withLock { $0 })
            #expect(request.method == method)
            #expect(request.target == "/v1/a%2Fb/../c?updateMask=x,y")
            #expect(request.body == Array(body.utf8))
            #expect(request.headers["Authorization"] == "Bearer t")
            #expect(request.headers["X-Empty"] == "")
            #expect(request.headers["User-Agent"] == "waypost/test")
            #expect(["Accept", "Accept-Encoding", "Expect", "Content-Type"].allSatisfy { request.headers[$0] == nil })
            #expect(response.traffic.bytesSent == request.byteCount)
            #expect(response.traffic.bytesReceived > response.body.count)
        }
    }

    /// A proxy may compress answers although no client asked for it.
    @Test(
        arguments: [("gzip", nil), ("GZIP", nil), ("aws-chunked", .unknownContentEncoding)]
            as [(
                String, HTTPTransportError.Code?
            )])
    func decodesUnrequestedCompression(coding: String, failure: HTTPTransportError.Code?) async throws {
        let compressed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 202, 75, 204, 77, 85, 178, 82, 42, 40, 202, 47, 203, 76, 73, 45,
            42, 214, 47, 208, 47, 75, 205, 200, 76, 206, 73, 45, 214, 47, 83, 170, 5, 0, 194, 220, 226, 66, 33, 0, 0, 0,
        ]
        try await Loopback.serve { _ in
            ServedResponse(
                HTTPResponse(status: 200, headers: HTTPHeaders(["Content-Encoding": coding]), body: compressed))
        } during: { url in
            do {
                let response = try await Loopback.makeTransport().send(HTTPRequest(.get, try HTTPURL(url)))
                #expect(failure == nil)
                #expect(String(decoding: response.body, as: UTF8.self) == #"{"name":"providers/p/vehicles/v"}"#)
                #expect(response.headers["Content-Encoding"] == nil)
            } catch let error as HTTPTransportError {
                #expect(error.code == failure, "\(error)")
                #expect(error.description.contains("compressed (Content-Encoding)"), "\(error)")
            }
        }
    }

    @Test func hasNoBodyInTheAnswerToHEAD() async throws {
        try await Loopback.serve { _ in
            ServedResponse(status: 200, contentType: "text/plain", "")
        } during: { url in
            let response = try await Loopback.makeTransport().send(HTTPRequest(.head, try HTTPURL(url)))
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func returnsARedirectWithoutFollowingIt(status: Int) async throws {
        let count = Locked(0)
        try await Loopback.serve { _ in
            count.withLock { $0 += 1 }
            return ServedResponse(HTTPResponse(status: status, headers: HTTPHeaders(["Location": "/elsewhere"])))
        } during: { url in
            let response = try await Loopback.makeTransport().send(HTTPRequest(.get, try HTTPURL(url)))
            #expect(response.status == status)
            #expect(response.headers["Location"] == "/elsewhere")
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func sendsALargeBodyWithoutExpect100Continue() async throws {
        try await Loopback.serve { request in
            ServedResponse(status: 200, contentType: "text/plain", "\(request.body.count)")
        } during: { url in
            let response = try await Loopback.makeTransport().send(
                HTTPRequest(.put, try HTTPURL(url), body: [UInt8](repeating: 0x61, count: 1_000_000)))
            #expect(String(decoding: response.body, as: UTF8.self) == "1000000")
            #expect(response.traffic.bytesSent > 1_000_000)
        }
    }

    @Test func runsConcurrentlyWithManyOthers() async throws {
        try await Loopback.serve { request in
            ServedResponse(status: 200, contentType: "text/plain", request.target)
        } during: { url in
            let transport = try Loopback.makeTransport()
            let right = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        guard let target = try? HTTPURL("\(url)/\(number)"),
                            let response = try? await transport.send(HTTPRequest(.get, target))
                        else { return false }
                        return response.body == Array("/\(number)".utf8)
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(right == 200)
        }
    }

    /// Once the transport knows that a connection carries one exchange at a time, a hanging exchange occupies the only
    /// connection.
    @Test func canBeCancelledWhileItWaitsForAConnection() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(10))
        try await Loopback.serve { request in
            guard request.target != "/0" else { return ServedResponse(status: 200, contentType: "text/plain", "") }
            arrived.yield(request.target)
            for await _ in AsyncStream<Never>.makeStream().stream {}  // until the service ends
            return ServedResponse(status: 200, contentType: "text/plain", "")
        } during: { url in
            var options = CurlTransportOptions(userAgent: "waypost/test")
            options.maximumConnections = 1
            let transport = try CurlTransport(options: options)
            func send(_ target: String, onceCancelled: Bool = false) -> Task<HTTPTransportError.Code?, Never> {
                Task {
                    while onceCancelled, !Task.isCancelled { await Task.yield() }
                    do {
                        _ = try await transport.send(HTTPRequest(.get, try HTTPURL(url + target)))
                        return nil
                    } catch { return (error as? HTTPTransportError)?.code }
                }
            }
            #expect(await send("/0").value == nil)
            let first = send("/1")
            for await target in arrivals {
                #expect(target == "/1")
                break
            }
            let others = ["/2", "/3", "/4"].map { send($0) }
            for other in others.reversed() {
                other.cancel()
                #expect(await other.value == .cancelled)
            }
            // The thread may receive the cancellation of an exchange before its start.
            let many = (5...500).map { send("/\($0)", onceCancelled: true) }
            for one in many { one.cancel() }
            for one in many { #expect(await one.value == .cancelled) }
            first.cancel()
            #expect(await first.value == .cancelled)
        }
    }

    @Test(arguments: [
        ("Name\r\nX", "v"), ("Name", "v\r\nX: y"), ("Name", "v\n"), ("", "v"), ("Na me", "v"), ("N", "\u{0}"),
    ])
    func rejectsAHeaderThatWouldBreakItsLine(name: String, value: String) async throws {
        let transport = try Loopback.makeTransport()
        let request = HTTPRequest(
            .get, try HTTPURL("http://127.0.0.1:1"), headers: HTTPHeaders([String(name): value + "secret"]))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(error?.code == .transportFailed)
        #expect(error?.description.contains("secret") == false)
    }
}
