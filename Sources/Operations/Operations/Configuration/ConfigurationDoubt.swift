import BackendAuthorization
import FleetEngine
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
import SQLiteOutbox

/// A value that can be read, and is hardly what was meant.
package struct ConfigurationDoubt: Sendable, Hashable, CustomStringConvertible {
    /// The section that it stands in.
    package let section: String
    /// Key, value and remedy.
    package let description: String
    /// Whether it may well be right: `waypost check` rejects all others.
    package let isLikelyRight: Bool

    init(_ key: String, _ says: String, isLikelyRight: Bool = false) {
        section = String(key.prefix { $0 != "." })
        description = "\(key) \(says)"
        self.isLikelyRight = isLikelyRight
    }
}

/// What `waypost check` rejects or notes, and the service warns of at its start: one and the same, though the service
/// begins all the same, for somewhere it may be right.
extension Configuration {
    /// All of them, from the values alone.
    package var doubts: [ConfigurationDoubt] {
        idDoubts + pathDoubts + receiverDoubts + templateDoubts + commandDoubts + headerDoubts + hostDoubts
            + endpointDoubts + tripDoubts + openSecretDoubts
    }

    /// The values that stand in `config.example.json` for one's own.
    private static let exampleProvider = "my-cloud-project"

    private var idDoubts: [ConfigurationDoubt] {
        let ids = [("vehicle.providerId", vehicle.providerID), ("vehicle.vehicleId", vehicle.vehicleID)]
        return ids.compactMap { key, id in
            if Self.isPlaceholder(id) {
                return ConfigurationDoubt(key, "is \"\(id)\", a placeholder that nothing has filled in; write the id")
            }
            if id == "*" { return ConfigurationDoubt(key, "is \"*\", which names no single one; write the id") }
            if let doubt = Self.spaceDoubt(key, id) { return doubt }
            if key == "vehicle.vehicleId", id.contains(where: \.isWhitespace) {
                return ConfigurationDoubt(
                    key, "is \"\(id)\", with a space; make sure that the backend has registered it so",
                    isLikelyRight: true)
            }
            if id.utf8.contains(where: { "=\"'".utf8.contains($0) }) {
                return ConfigurationDoubt(
                    key, "is \(id), as a line of a settings file is written; write the id alone",
                    isLikelyRight: !id.isInQuotes)
            }
            if key == "vehicle.providerId", id.utf8.allSatisfy(\.isDigit) {
                return ConfigurationDoubt(
                    key, "is \(id), a number; Fleet Engine knows a Google Cloud project by its id, as my-project-4711",
                    isLikelyRight: true)
            }
            if Self.isWordedPlaceholder(id) {
                return ConfigurationDoubt(
                    key, "is \(id), which reads like a placeholder; write the id", isLikelyRight: true)
            }
            guard key == "vehicle.providerId" else { return nil }
            guard !id.contains(where: { $0.isUppercase || $0.isWhitespace }) else {
                return ConfigurationDoubt(
                    key,
                    "is \"\(id)\", which looks like the project's name; write its id, which has lowercase letters, "
                        + "digits and hyphens alone (gcloud projects list shows it)",
                    isLikelyRight: true)
            }
            guard id == Self.exampleProvider else { return nil }
            return ConfigurationDoubt(
                key, "is still the example's, \(id); write the id of your Google Cloud project",
                // A simulator takes any.
                isLikelyRight: HTTPURL.isLoopback(upload.endpoint.host))
        }
    }

    private static func spaceDoubt(_ key: String, _ value: String) -> ConfigurationDoubt? {
        guard value.first?.isWhitespace == true || value.last?.isWhitespace == true else { return nil }
        let space = value.contains(where: \.isNewline) ? "line break" : "space"
        return ConfigurationDoubt(
            key, "is \"\(value)\", with a \(space) at its beginning or end; leave it out")
    }

    /// As a shell or a template has them: `${VAN}`, `$VAN`, `{{ van }}`, `<van>`, `%VAN%`.
    private static func isPlaceholder(_ text: String) -> Bool {
        let isWindows = text.count > 2 && text.first == "%" && text.last == "%"
        return hasVariable(text) || text.utf8.contains { "{}<>".utf8.contains($0) }
            || isWindows && text.utf8.dropFirst().dropLast().allSatisfy { $0.isAlphanumeric || $0 == underscore }
    }

    /// As an example has them in words: `YOUR_API_KEY`, `VAN_ID_HERE`, `changeme`.
    private static func isWordedPlaceholder(_ text: String) -> Bool {
        let words = text.lowercased().split { !$0.isLetter }
        return words.count > 1 && (words.first == "your" || words.last == "here")
            || ["changeme", "replaceme"].contains(words.joined())
    }

    /// `$VAN`, `${VAN}` or `$(van)`.
    private static func hasVariable(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { sign, next in
            sign == UInt8(ascii: "$")
                && (next.isAlphanumeric && !next.isDigit || next == underscore || "{(".utf8.contains(next))
        }
    }

    /// `{van}`, `{{ van }}` or `<van>`.
    private static func hasWordInBraces(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { sign, next in
            "{<".utf8.contains(sign) && (next.isAlphanumeric && !next.isDigit || "{ _".utf8.contains(next))
        }
    }

    private static let underscore = UInt8(ascii: "_")

    private var pathDoubts: [ConfigurationDoubt] {
        paths.compactMap { key, path in
            // A whole line for a shell is told where its program is looked for.
            if key.hasSuffix(".command"), let blank = path.firstIndex(of: " "), !path[..<blank].contains("/") {
                return nil
            }
            // Waypost's own are filled in here, but for the trip's.
            if Self.hasVariable(path) || Self.hasWordInBraces(path.replacing("{tripId}", with: "")) {
                return ConfigurationDoubt(
                    key, "is \"\(path)\", with a placeholder that nothing has filled in; write the path")
            }
            if let doubt = Self.spaceDoubt(key, path) { return doubt }
            if path.hasSuffix("/") {
                return ConfigurationDoubt(key, "is \"\(path)\", which ends as a folder does; name the file in it")
            }
            if key == "receiver.device", let words = Self.doubt(aboutDevice: path) {
                return ConfigurationDoubt(key, "is \"\(path)\", \(words)")
            }
            // A program without a folder is looked for in PATH.
            guard !path.hasPrefix("/"), path.contains("/") || !key.hasSuffix(".command") else { return nil }
            return ConfigurationDoubt(
                key,
                "is \"\(path)\", which is looked for in whatever folder the service is started in; write the whole path, "
                    + "from / on")
        }
    }

    /// What is written in the place of a serial line's path, and what to write.
    private static func doubt(aboutDevice path: String) -> String? {
        if path.utf8.contains(where: { "*?[".utf8.contains($0) }) {
            return "a pattern; write the path of one device, best one in /dev/serial/by-id"
        }
        let words = path.split(whereSeparator: { ":,@ ".contains($0) })
        if words.count > 1, BaudRate.supported.contains(where: { words.last == "\($0)" }) {
            return "with a baud rate; write the path alone, and the rate as receiver.baudRate"
        }
        if path.uppercased().hasPrefix("COM"), path.dropFirst(3).allSatisfy(\.isNumber) {
            return "as Windows names a line; write one such as /dev/ttyUSB0 (ls -l /dev/serial/by-id)"
        }
        return nil
    }

    /// A key file that others may read is rejected when it is read; these may hold a secret, or none.
    private var openSecretDoubts: [ConfigurationDoubt] {
        settings.filter(\.isOpenSecret).map { setting in
            ConfigurationDoubt(
                setting.path,
                "comes from a file that is open to every user; if there is a secret in it, run chmod o= on it",
                isLikelyRight: true)
        }
    }

    /// A host that is more than one.
    private var receiverDoubts: [ConfigurationDoubt] {
        let host: String
        switch receiver.source {
        case .tcp(let name, _), .udp(let name, _), .gpsd(let name, _, _): host = name
        case .serial, .file, .standardInput: return []
        }
        if host.contains("://") {
            return [ConfigurationDoubt("receiver.host", "is \"\(host)\", an address; write the host in it alone")]
        }
        // Those of version 6 have several.
        guard host.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 else { return [] }
        return [
            ConfigurationDoubt(
                "receiver.host", "is \"\(host)\", with a port; write the host alone, and the port as receiver.port")
        ]
    }

    /// Elsewhere a placeholder is written with other signs.
    private var templateDoubts: [ConfigurationDoubt] {
        [("authorization", authorization, "vehicleId"), ("consumerAuthorization", consumerAuthorization, "tripId")]
            .compactMap { key, provider, word in
                guard case .http(let settings, _)? = provider else { return nil }
                if settings.url.contains("${") {
                    return ConfigurationDoubt(
                        "\(key).url",
                        "has a $ before a placeholder, which stays in the address; write the braces without it")
                }
                if settings.url.contains("#") {
                    return ConfigurationDoubt(
                        "\(key).url",
                        "has a #, behind which nothing is sent; leave that out, or write %23 where it belongs to the address",
                        isLikelyRight: true)
                }
                guard !settings.url.contains("{\(word)}"),
                    let url = try? HTTPURL(settings.url.withPlaceholdersFilled),
                    Self.hasForeignPlaceholder(url.target, for: word)
                else { return nil }
                return ConfigurationDoubt(
                    "\(key).url",
                    "has what looks like another program's placeholder, as :\(word) or %s, which stays in the address as "
                        + "it is; if the id is to stand there, write {\(word)}", isLikelyRight: true)
            }
    }

    /// Whether `target` names `word` as `:vehicleId`, `[vehicleId]` or `VEHICLE_ID` do, or has `%s`; not as the key of
    /// a query or of the next part of the path.
    private static func hasForeignPlaceholder(_ target: String, for word: String) -> Bool {
        let text = target.lowercased().replacing("_", with: "").replacing("-", with: "")
        if text.contains("%s") { return true }
        var rest = text[...]
        while let found = rest.firstRange(of: word.lowercased()) {
            let before = rest[..<found.lowerBound]
            let after = rest[found.upperBound...]
            if before.hasSuffix("%7b") { return true }
            let isKey = after.first == "=" || before.last == "/" && after.first == "/"
            let isPart = before.last?.isLetter == true || after.first?.isLetter == true
            if !isKey, !isPart { return true }
            rest = after
        }
        return false
    }

    /// An endpoint that is asked for a trip's token, and not told the trip.
    private var tripDoubts: [ConfigurationDoubt] {
        guard case .http(let settings, _)? = consumerAuthorization, !settings.url.contains("{tripId}") else {
            return []
        }
        switch settings.body {
        case nil: break
        case .literal(let text)? where !text.contains("{tripId}"): break
        default: return []
        }
        return [
            ConfigurationDoubt(
                "consumerAuthorization.url",
                "has no {tripId}, so that the endpoint is not told whose token it is asked for; write {tripId} where it "
                    + "expects the trip's id", isLikelyRight: true)
        ]
    }

    /// What only a shell reads, in the arguments of a program that is none. They may be secrets and are not shown.
    private var commandDoubts: [ConfigurationDoubt] {
        [("authorization", authorization), ("consumerAuthorization", consumerAuthorization)].compactMap {
            key, provider in
            guard case .command(let arguments, _, _, _)? = provider,
                !arguments.contains(where: { Self.shells.contains(String($0.split(separator: "/").last ?? "")) }),
                let sign = arguments.dropFirst().lazy.compactMap(Self.shellSign).first
            else { return nil }
            return ConfigurationDoubt(
                "\(key).command",
                "has \(sign) in an argument, and no shell reads it: the program gets it as it stands; if it is meant for a "
                    + "shell, write [\"/bin/sh\", \"-c\", \"...\"]", isLikelyRight: true)
        }
    }

    /// Programs that read their arguments as a shell does, or hand them to one.
    private static let shells: Set = ["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "su", "runuser", "ssh"]

    private static func shellSign(in argument: String) -> String? {
        if ["|", "||", "&&", ";", "&", "<", ">", ">>", "2>", "2>&1"].contains(argument) { return argument }
        if hasVariable(argument) { return "a $" }
        return argument.count > 2 && argument.first == "`" && argument.last == "`" ? "a `" : nil
    }

    /// Texts that were to be replaced, or that Waypost takes as they stand. They may be secrets and are not shown.
    private var headerDoubts: [ConfigurationDoubt] {
        [("authorization", authorization), ("consumerAuthorization", consumerAuthorization)].flatMap { key, provider in
            guard case .http(let settings, _)? = provider else { return [ConfigurationDoubt]() }
            return settings.headers.compactMap { header in
                guard case .literal(let text) = header.secret else { return nil }
                let name = "\(key).headers.\(header.name)"
                if ["{file:", "{environment:", "{credential:", "{env:"].contains(where: { text.contains($0) }) {
                    return ConfigurationDoubt(
                        name,
                        "has a reference within its text, which is sent as it stands; write an object, as "
                            + "{\"file\": PATH, \"scheme\": \"bearer\"}", isLikelyRight: true)
                }
                if text.contains("$(") {
                    return ConfigurationDoubt(
                        name,
                        "has a command for a shell in it, which is sent as it stands; write an object, as {\"file\": PATH, "
                            + "\"scheme\": \"bearer\"}, with the file that the command reads", isLikelyRight: true)
                }
                let value = text.split(separator: " ").last.map(String.init) ?? ""
                guard Self.isWordedPlaceholder(value) || Self.isPlaceholder(value) else { return nil }
                return ConfigurationDoubt(
                    name, "reads like a placeholder, which is sent as it stands; write the value", isLikelyRight: true)
            }
        }
    }

    private var hostDoubts: [ConfigurationDoubt] {
        var hosts = [("upload.endpoint", upload.endpoint.host)]
        for (key, provider) in [("authorization", authorization), ("consumerAuthorization", consumerAuthorization)] {
            if case .http(let settings, _)? = provider,
                let url = try? HTTPURL(settings.url.withPlaceholdersFilled)
            {
                hosts.append(("\(key).url", url.host))
            }
        }
        return hosts.filter { Self.isReserved($0.1) }.map { key, host in
            ConfigurationDoubt(key, "names \(host), a host of examples that nobody has; write your own")
        }
    }

    /// Requests bring the whole path themselves; a gateway of one's own may want more before it, but no query. What is
    /// there is not shown, for it may be a key.
    private var endpointDoubts: [ConfigurationDoubt] {
        let endpoint = upload.endpoint
        guard endpoint.target != "/" else { return [] }
        let isLikelyRight =
            !endpoint.host.hasSuffix("googleapis.com") && !endpoint.target.contains("?")
            && !endpoint.target.hasPrefix("/v1")
        return [
            ConfigurationDoubt(
                "upload.endpoint",
                "has a path behind \(endpoint.origin), to which requests add their own, /v1/providers/...; write "
                    + "\(endpoint.origin)" + (isLikelyRight ? ", unless a gateway there wants the path" : ""),
                isLikelyRight: isLikelyRight)
        ]
    }

    /// Names for documentation, which lead nowhere (RFC 2606).
    private static func isReserved(_ host: String) -> Bool {
        let host = "." + host.lowercased()
        return [".example.com", ".example.net", ".example.org", ".example", ".invalid"].contains { host.hasSuffix($0) }
    }
}
