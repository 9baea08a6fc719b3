import HTTPMessages
import Testing

@Suite struct HTTPProxies {
    @Test(
        arguments: [
            ("http://proxy.example.com:3128", "http://proxy.example.com:3128", "proxy.example.com", 3128),
            ("HTTP://Proxy.Example.COM:3128/", "http://proxy.example.com:3128", "proxy.example.com", 3128),
            ("https://10.0.0.1:443", "https://10.0.0.1:443", "10.0.0.1", 443),
            ("socks5h://[2001:db8::1]:1080", "socks5h://[2001:db8::1]:1080", "2001:db8::1", 1080),
        ])
    func areAccepted(text: String, origin: String, host: String, port: Int) throws {
        let proxy = try HTTPProxy(text)
        #expect(proxy.origin == origin && proxy.host == host && proxy.port == port)
        #expect(proxy.isHostAddress == !host.hasSuffix("com"))
    }

    @Test(
        arguments: [
            ("proxy.example.com:3128", HTTPProxy.Problem.notAbsolute), ("", .notAbsolute),
            ("socks5://p:1080", .resolvesNamesLocally), ("socks4://p:1080", .unsupportedScheme("socks4")),
            ("http://proxy.example.com", .missingPort), ("http://[::1]", .missingPort),
            ("http://van:hush@p:3128", .userInformation), ("http://p:3128/path", .hasPath),
            ("http://p:3128?x", .hasPath),
            ("http://p:0", .invalidHost(.invalidPort("0"))), ("http://:3128", .invalidHost(.missingHost)),
            ("http://p p:3128", .invalidHost(.invalidHost("p p"))),
        ])
    func areRejected(text: String, problem: HTTPProxy.Problem) {
        #expect(throws: problem) { try HTTPProxy(text) }
        #expect(!problem.description.contains("hush"))
    }

    @Test func knowWhetherTheyAreOnThisMachine() throws {
        #expect(try HTTPProxy("http://127.0.0.1:3128").isLoopback && HTTPProxy("http://localhost:1").isLoopback)
        #expect(try !HTTPProxy("http://10.0.0.1:3128").isLoopback)
    }
}
