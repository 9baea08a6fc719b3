import ReportedText
import StrictJSON

/// What may leave the machine: text and JSON without secrets and, where they are not wanted, without positions.
struct BundledText {
    let keepsPositions: Bool

    /// What may be longer is cut.
    private static let longestLine = 4000
    private static let struck = "…"

    /// The same text line by line, freed of what looks like a secret; a line that is a position is struck out in part.
    func lines(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            text += self.line(ReportedText(bytes: line, limit: Self.longestLine).description).utf8
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Coordinates have four decimals at least where they are worth anything, in degrees or NMEA's minutes.
    func line(_ text: String) -> String {
        guard !keepsPositions, text.utf8.contains(UInt8(ascii: ".")) else { return text }
        var shown = ""
        var rest = text.utf8[...]
        while let start = rest.firstIndex(where: \.isDigit) {
            let before = rest[..<start]
            let after = rest[start...]
            let number = after.prefix(while: \.isDigit)
            let end = Self.endOfCoordinate(after)
            shown += Substring(before) + (end == nil ? Substring(number) : Substring(Self.struck))
            rest = after[(end ?? number.endIndex)...]
        }
        return shown + Substring(rest)
    }

    /// Where the one ends with which `text` begins: `48.1371` or, with its hemisphere, `4808.2,N`.
    private static func endOfCoordinate(_ text: Substring.UTF8View) -> String.Index? {
        let whole = text.prefix(while: \.isDigit).count
        var rest = text.dropFirst(whole)
        guard rest.popFirst() == UInt8(ascii: ".") else { return nil }
        let decimals = rest.prefix(while: \.isDigit).count
        rest = rest.dropFirst(decimals)
        if decimals >= 4 { return rest.startIndex }
        guard whole >= 3, decimals > 0, rest.popFirst() == UInt8(ascii: ","), let side = rest.popFirst(),
            "NSEW".utf8.contains(side), rest.first?.isAlphanumeric != true
        else { return nil }
        return rest.startIndex
    }

    /// What the service says of itself: its words have passed the redaction where they came in. Where each satellite
    /// stands tells the region.
    func status(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(line(text))
        case .array(let values): .array(values.map(status))
        case .object(let members):
            .object(
                members.filter { keepsPositions || !["elevationDegrees", "azimuthDegrees"].contains($0.key) }
                    .mapValues(status))
        case .null, .bool, .integer, .number: value
        }
    }

    /// Whose values are shown as they are; any other may be a secret or the place of a private zone, a misspelt key's
    /// as well.
    private static let plainKeys = Set(ConfigurationKey.all.filter(\.isNumber).map(\.name)).union([
        "caFile", "clientCertificateFile", "clientKeyFile", "credential", "device", "durability", "environment",
        "expirationFormat", "expirationKey", "file", "format", "host", "level", "listen", "method", "path", "policy",
        "privateWhen", "providerId", "scheme", "service", "stateOnStop", "stateWhileRunning", "tokenKey", "tokenShape",
        "type", "vehicleId",
    ])
    /// Of these an address shows its host and path alone.
    private static let addresses: Set = ["endpoint", "url"]

    /// A configuration as it is in its file, secrets struck out.
    func configuration(_ value: JSONValue, under key: String = "") -> JSONValue {
        if key == "privateZones" { return .string(Self.struck) }
        switch value {
        case .string(let text):
            guard Self.plainKeys.contains(key) || Self.addresses.contains(key) else { return .string(Self.struck) }
            let shown = Self.addresses.contains(key) ? ConfigurationSection.withoutSecrets(text) : text
            return .string(line(ReportedText(shown, limit: Self.longestLine).description))
        case .array(let values):
            // A command: the program is told, its arguments may hold a key.
            return .array(
                values.enumerated().map { index, value in
                    configuration(value, under: key == "command" && index == 0 ? "path" : "")
                })
        case .object(let members):
            let named = key == "headers" || key == "environment"  // their members have names of their own
            return .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { member in
                        (member.key, configuration(member.value, under: named ? "" : member.key))
                    }))
        case .integer, .number: return Self.plainKeys.contains(key) ? value : .string(Self.struck)
        case .null, .bool: return value
        }
    }
}
