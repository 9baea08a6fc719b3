import HTTPMessages
import StrictJSON

extension ConfigurationSection {
    /// Returns the proxy for connections to `endpoint`; `nil` if none is configured.
    mutating func proxy(to endpoint: HTTPURL?) -> HTTPProxy? {
        let isConfigured = has("proxy")
        var section = section(
            "proxy", as: #"{ "url": "http://proxy.example.com:3128" }"#,
            "the proxy that connections go through, if there is one")
        defer { section.finish() }
        let forms = "http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT"
        let proxy = section.convertedText(
            "url", ifMissing: "write \(forms)", redactedBy: Self.withoutSecrets, "the proxy's URL: \(forms)",
            HTTPProxy.init)
        let user = section.optionalString("user", "the user name, if the proxy requires a login")
        let password = section.secretText("password", "the user's password, preferably from a file or a credential")
        guard isConfigured else { return nil }
        if (user == nil) != (password == nil), !section.isRejected("user"), !section.isRejected("password") {
            section.reportProblem(
                with: user == nil ? "user" : "password", "is missing; a login needs both \"user\" and \"password\"")
        }
        guard var proxy else { return nil }
        if let user, let password { proxy.login = HTTPProxy.Login(user: user, password: password) }
        if proxy.login?.user.utf8.contains(UInt8(ascii: ":")) == true {
            section.reportProblem(with: "user", "has a colon, which a user name for a proxy cannot contain; correct it")
        }
        if let endpoint, endpoint.scheme == .http, !proxy.isLoopback {
            section.reportProblem(
                with: "url",
                "is on \(proxy.host), but the server is plain http on this machine, so the token would leave the "
                    + "machine unencrypted; remove \"proxy\", or use a server with https")
        }
        proxy.key = section.path
        return proxy
    }

    /// Returns the secret string under `key`; `nil` if it is missing. Messages don't show the value, even if it isn't a
    /// string.
    private mutating func secretText(_ key: String, _ description: String) -> String? {
        guard let value = readMember(key), value.stringValue == nil, value.objectValue == nil else {
            return optionalString(key, isSecret: true, description)
        }
        declare(key, .string, isSecret: true, description)
        recordValue(key, ConfigurationSetting.redacted, isPresent: true)
        reportProblem(with: key, "is \(value.kind); use a string in quotes, \(ValueReference.forms)")
        return nil
    }
}
