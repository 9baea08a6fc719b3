import BackendAuthorization
import FleetEngine
import HTTPMessages
import LinuxPlatform
import ReportedText

/// A warning about a value that is valid but probably not intended, with its key and the remedy.
///
/// The service logs the warning and starts anyway. `waypost check` fails, unless the value may be intended; it then
/// only prints a note.
package struct ConfigurationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The name of the top-level section that contains the key.
    package let section: String
    /// The key, the problem with its value, and the remedy.
    package let description: String
    /// Whether the value may be intended, so that `waypost check` doesn't fail.
    package let mayBeIntended: Bool

    init(_ key: String, _ problem: String, mayBeIntended: Bool = false) {
        section = String(key.prefix { $0 != "." })
        description = "\(key) \(ReportedText.withoutTokensAndKeys(problem))"
        self.mayBeIntended = mayBeIntended
    }
}

extension Configuration {
    /// All warnings that can be derived from the configuration's values, without any further check.
    package var warnings: [ConfigurationWarning] {
        [("vehicle.providerId", vehicle.providerID), ("vehicle.vehicleId", vehicle.vehicleID)]
            .compactMap(idWarning) + exampleWarnings + pathWarnings + urlWarnings + headerWarnings
            + commandWarnings + openSecretWarnings
            + [unusedProxyWarning(ProcessStart.removedProxyVariable)].compactMap(\.self)
    }

    /// Returns a warning if a proxy is set only in an environment variable, whose name is `variable`.
    func unusedProxyWarning(_ variable: String?) -> ConfigurationWarning? {
        guard let variable, upload.proxy == nil else { return nil }
        return ConfigurationWarning(
            "upload.proxy",
            "is not set, and the proxy in the environment variable \(variable) isn't used; if the vehicle needs a "
                + "proxy, set upload.proxy and authorization.proxy", mayBeIntended: true)
    }

    private func idWarning(_ key: String, _ id: String) -> ConfigurationWarning? {
        if Placeholder.isContained(in: id) {
            return ConfigurationWarning(key, "is \"\(id)\", a placeholder that nothing has filled in; write the id")
        }
        if let warning = Self.spaceWarning(key, id) { return warning }
        if id.isInQuotes || id.utf8.contains(UInt8(ascii: "=")) {
            return ConfigurationWarning(
                key,
                "is \(id), which looks like a line of a settings file; write only the id",
                mayBeIntended: !id.isInQuotes)
        }
        if Placeholder.isPhrase(id) {
            return ConfigurationWarning(
                key, "is \(id), which looks like a placeholder; write the id", mayBeIntended: true)
        }
        // A simulator accepts a shorter id.
        let minimumLength = HTTPURL.isLoopback(upload.endpoint.host) ? 1 : 6
        guard key == "vehicle.providerId", !Self.isProjectID(id, minimumLength: minimumLength) else { return nil }
        return ConfigurationWarning(
            key,
            "is \"\(id)\", which can't be the id of a Google Cloud project; write the id, not the project's name or "
                + "number (gcloud projects list)", mayBeIntended: true)
    }

    /// Returns whether `id` has the form of a project's id: up to 30 lower-case letters, digits and hyphens, beginning
    /// with a letter. Google requires at least 6 characters.
    private static func isProjectID(_ id: String, minimumLength: Int) -> Bool {
        minimumLength...30 ~= id.utf8.count && id.first?.isLetter == true
            && id.utf8.allSatisfy {
                $0.isDigit || $0 == UInt8(ascii: "-") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
            }
    }

    /// The warnings about a project or a host that is still the example configuration's. If updates go to a simulator,
    /// the project doesn't matter.
    private var exampleWarnings: [ConfigurationWarning] {
        var warnings: [ConfigurationWarning] = []
        if vehicle.providerID == "my-cloud-project" {
            warnings.append(
                ConfigurationWarning(
                    "vehicle.providerId",
                    "is still the example's value, \(vehicle.providerID); write the id of your Google Cloud project",
                    mayBeIntended: HTTPURL.isLoopback(upload.endpoint.host)))
        }
        var hosts = [("upload.endpoint", upload.endpoint.host)]
        hosts += tokenURLs.compactMap { key, url in
            (try? HTTPURL(url.withPlaceholdersFilled)).map { (key, $0.host) }
        }
        return warnings
            + hosts.filter { Self.isReserved($0.1) }.map { key, host in
                ConfigurationWarning(key, "names \(host), a host for examples only; write your own host")
            }
    }

    /// Returns whether the domain of `host` is reserved for documentation, so that the host can't exist (RFC 2606).
    private static func isReserved(_ host: String) -> Bool {
        let host = "." + host.lowercased()
        return [".example.com", ".example.net", ".example.org", ".example", ".invalid"].contains { host.hasSuffix($0) }
    }

    private static func spaceWarning(_ key: String, _ value: String) -> ConfigurationWarning? {
        guard value.first?.isWhitespace == true || value.last?.isWhitespace == true else { return nil }
        let space = value.contains(where: \.isNewline) ? "line break" : "space"
        return ConfigurationWarning(key, "is \"\(value)\", with a \(space) at its start or end; remove the \(space)")
    }

    private var pathWarnings: [ConfigurationWarning] {
        paths.compactMap { key, path in
            let isProgram = key.hasSuffix(".command")
            // Without a slash, this is the name of a program in PATH, or a whole command line. A missing program is
            // reported elsewhere.
            if isProgram, !path.prefix(while: { $0 != " " }).contains("/") { return nil }
            // All of Waypost's own placeholders have been filled in by now, except the trip's.
            if Placeholder.isContained(in: path.replacing("{tripId}", with: "")) {
                return ConfigurationWarning(
                    key, "is \"\(path)\", with a placeholder that nothing has filled in; write the path")
            }
            if let warning = Self.spaceWarning(key, path) { return warning }
            if path.hasSuffix("/") {
                return ConfigurationWarning(key, "is \"\(path)\", a directory; specify a file in it")
            }
            if path.hasPrefix("/") || isProgram && path.hasPrefix("~") { return nil }
            return ConfigurationWarning(
                key,
                "is \"\(path)\", which depends on the directory that the service starts in; write the absolute path")
        }
    }

    /// The URLs of the token endpoints, each with its key. The URLs still contain their placeholders.
    private var tokenURLs: [(key: String, url: String)] {
        providers.compactMap { section, provider in
            if case .http(let settings, _) = provider { ("\(section).url", settings.url) } else { nil }
        }
    }

    /// The warnings about URLs. A token URL may contain a placeholder in the syntax of another program. Such a URL
    /// isn't shown, because it may contain a secret. The upload URL should have no path, because each request adds its
    /// own.
    private var urlWarnings: [ConfigurationWarning] {
        var warnings = [sharedURLWarning].compactMap(\.self)
        warnings += tokenURLs.compactMap { key, url -> ConfigurationWarning? in
            let origin = (try? HTTPURL(url.withPlaceholdersFilled))?.origin ?? ""
            if origin.hasSuffix(".googleapis.com") {
                return ConfigurationWarning(
                    key, "is an address of Google, which issues no such tokens; write your backend's token endpoint")
            }
            if url.contains("${") {
                return ConfigurationWarning(key, "has a $ before a placeholder, and the $ is also sent; remove it")
            }
            let word = key == "consumerAuthorization.url" ? "tripId" : "vehicleId"
            guard [":\(word)", "$\(word)", "%s", "%7B"].contains(where: { url.contains($0) }) else { return nil }
            return ConfigurationWarning(
                key, "contains a placeholder in another program's syntax, which is sent unchanged; write {\(word)}",
                mayBeIntended: true)
        }
        let endpoint = upload.endpoint
        let isGoogles = endpoint.target != "/" && endpoint.host.hasSuffix("googleapis.com")
        if isGoogles || endpoint.target.hasPrefix("/v1") || endpoint.target.contains("?") {
            warnings.append(
                ConfigurationWarning(
                    "upload.endpoint",
                    "has a path after \(endpoint.origin), but requests add their own path, /v1/providers/...; write "
                        + endpoint.origin))
        }
        return warnings
    }

    /// The warning about a token endpoint that can't know which vehicle asks: neither its URL nor a header nor a client
    /// certificate identifies the vehicle. `nil` if there is no such endpoint.
    private var sharedURLWarning: ConfigurationWarning? {
        guard case .http(let settings, let trust) = authorization, settings.headers.isEmpty,
            trust.clientKeyFile == nil,
            !["{vehicleId}", vehicle.vehicleID].contains(where: settings.url.contains)
        else { return nil }
        return ConfigurationWarning(
            "authorization.url", "is the same for every vehicle; write {vehicleId} in the place of the vehicle's id",
            mayBeIntended: true)
    }

    /// The warnings about headers that contain a placeholder or a path, which would be sent as it is. The headers'
    /// values aren't shown, because they may be secrets.
    private var headerWarnings: [ConfigurationWarning] {
        providers.flatMap { section, provider in
            guard case .http(let settings, _) = provider else { return [ConfigurationWarning]() }
            return settings.headers.compactMap { header in
                guard case .literal(let text) = header.secret else { return nil }
                let words = text.lowercased().split(separator: " ")
                if words == ["bearer"] || words == ["basic"] {
                    return ConfigurationWarning(
                        "\(section).headers.\(header.name)",
                        "is a scheme without a key; write the key after the scheme, or an object such as "
                            + "{\"file\": PATH, \"scheme\": \"\(words[0])\"}")
                }
                let isPath = ["/", "@/"].contains { text.hasPrefix($0) }
                guard
                    isPath || Placeholder.isContained(in: text)
                        || Placeholder.isPhrase(String(text.split(separator: " ").last ?? ""))
                else { return nil }
                return ConfigurationWarning(
                    "\(section).headers.\(header.name)",
                    "looks like a \(isPath ? "path" : "placeholder"), which is sent unchanged; write the value, or an "
                        + "object such as {\"file\": PATH, \"scheme\": \"bearer\"}", mayBeIntended: true)
            }
        }
    }

    /// The warnings about arguments of a token command that only a shell would replace or obey. An argument isn't
    /// shown, because it may be a secret.
    private var commandWarnings: [ConfigurationWarning] {
        providers.compactMap { section, provider in
            guard case .command(let arguments, _, _, _) = provider,
                !["sh", "bash", "dash"].contains(arguments.first?.split(separator: "/").last.map(String.init) ?? "")
            else { return nil }
            let words = arguments.dropFirst()
            let sign = ["|", ">", "&&", ";"].first(where: words.contains)
            guard let word = sign ?? (words.contains(where: Placeholder.hasVariable) ? "a variable ($)" : nil) else {
                return nil
            }
            return ConfigurationWarning(
                "\(section).command",
                "contains \(word), which only a shell understands; write {vehicleId} for the vehicle's id, or begin with "
                    + "\"/bin/sh\", \"-c\"", mayBeIntended: true)
        }
    }

    /// The warnings about values that may be secrets although every user can read their files. The file of a private
    /// key isn't included, because Waypost rejects it if other users can read it.
    private var openSecretWarnings: [ConfigurationWarning] {
        settings.filter(\.isOpenSecret).map { setting in
            ConfigurationWarning(
                setting.path,
                "comes from a file that every user can read; if it is a secret, run chmod o= on the file",
                mayBeIntended: true)
        }
    }
}

/// Tests that recognise placeholders that should have been replaced by values.
private enum Placeholder {
    /// Returns whether `text` contains a placeholder in the syntax of a shell or a template, such as `${VAN}`, `$VAN`,
    /// `{{ van }}` or `<van>`.
    static func isContained(in text: String) -> Bool {
        hasVariable(text) || text.utf8.contains { "{}<>".utf8.contains($0) }
    }

    /// Returns whether `text` contains a variable in the syntax of a shell, such as `${VAN}` or `$VAN`.
    static func hasVariable(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { sign, next in
            sign == UInt8(ascii: "$") && (next.isAlphanumeric && !next.isDigit || "_{(".utf8.contains(next))
        }
    }

    /// Returns whether `text` is a phrase such as `YOUR_API_KEY`, `VAN_ID_HERE` or `changeme`, which stands for a
    /// value.
    static func isPhrase(_ text: String) -> Bool {
        let words = text.lowercased().split { !$0.isLetter }
        return words.count > 1 && (words.first == "your" || words.last == "here") || words.joined() == "changeme"
    }
}
