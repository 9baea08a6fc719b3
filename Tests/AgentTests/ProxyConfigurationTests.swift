import BackendAuthorization
import HTTPMessages
import StrictJSON
import Testing
import WaypostTestSupport

@testable import Operations

@Suite struct ProxyConfiguration {
    /// Returns a configuration with a proxy for each server.
    private static func configurationText(
        upload: String, authorization: String = #"{"url": "http://p:3128"}"#, endpoint: String = "https://engine.test"
    ) -> String {
        """
        {"vehicle": {"providerId": "p", "vehicleId": "v"}, "receiver": {"type": "stdin"},
         "authorization": {"type": "http", "url": "https://b.test/{vehicleId}", "proxy": \(authorization)},
         "upload": {"endpoint": "\(endpoint)", "proxy": \(upload)}}
        """
    }

    @Test func isReadForEachServer() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("hush-4711\n".utf8, to: "password", mode: 0o600)
        let configuration = try Configurations.read(
            Self.configurationText(
                upload: #"{"url": "socks5h://10.0.0.1:1080", "user": "van", "password": {"file": "\#(file)"}}"#))
        let proxy = try #require(configuration.upload.proxy)
        #expect(proxy.origin == "socks5h://10.0.0.1:1080" && proxy.key == "upload.proxy")
        #expect(proxy.login == HTTPProxy.Login(user: "van", password: "hush-4711"))
        guard case .http(_, let trust) = configuration.authorization else {
            Issue.record("the provider isn't of type http")
            return
        }
        #expect(trust.proxy?.origin == "http://p:3128" && trust.proxy?.login == nil)
        #expect(trust.proxy?.key == "authorization.proxy")
        for setting in configuration.settings {
            #expect(setting.value?.text.contains("hush") != true, "\(setting.path)")
        }
        #expect(try Configurations.read(Configurations.smallest).upload.proxy == nil)
    }

    @Test(arguments: [
        (#"{}"#, "upload.proxy.url\" is missing; write http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT"),
        (
            #"{"url": "http://p"}"#,
            "upload.proxy.url\" is \"http://p\", which has no port; write it as http://HOST:PORT"
        ),
        (
            #"{"url": "http://van:hush@p:1"}"#,
            "upload.proxy.url\" is \"http://…@p:1\", which contains a user name or password; set \"user\" and "
        ),
        (
            #"{"url": "http://p:1", "user": "van"}"#,
            "upload.proxy.password\" is missing; a login needs both \"user\" and"
        ),
        (
            #"{"url": "http://p:1", "password": "hush"}"#,
            "upload.proxy.user\" is missing; a login needs both \"user\" and"
        ),
        (
            #"{"url": "http://p:1", "user": "van", "password": 4711}"#,
            "upload.proxy.password\" is an integer; use a string in quotes, {\"file\": PATH}, {\"environment\": NAME} or"
        ),
        (
            #"{"url": "http://p:1", "username": "van"}"#,
            "upload.proxy.username\" is not a key of Waypost; did you mean \"user"
        ),
        (
            #""http://p:1""#,
            "upload.proxy\" is a string; use an object in braces, such as { \"url\": \"http://proxy.example.com"
        ),
    ])
    func reportsErrors(proxy: String, message: String) {
        let problems = Configurations.problems(in: Self.configurationText(upload: proxy))
        #expect(problems.count == 1 && problems[0].hasPrefix("config.json: \"\(message)"), "\(problems)")
        #expect(!problems.joined().contains("hush") && !problems.joined().contains("4711"))
    }

    /// Plain http to this machine must not leave it through a remote proxy.
    @Test func keepsUnencryptedTokensOnThisMachine() {
        let endpoint = "http://127.0.0.1:8089"
        let problems = Configurations.problems(
            in: Self.configurationText(upload: #"{"url": "https://p:1"}"#, endpoint: endpoint))
        #expect(
            problems.count == 1 && problems[0].contains("the token would leave the machine unencrypted"), "\(problems)")
        let here = Configurations.problems(
            in: Self.configurationText(upload: #"{"url": "http://127.0.0.1:3128"}"#, endpoint: endpoint))
        #expect(here == [])
    }
}
