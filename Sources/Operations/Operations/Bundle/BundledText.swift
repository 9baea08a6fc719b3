import ReportedText
import StrictJSON

/// Functions that redact the text and JSON in a support bundle, because the bundle leaves the machine. They remove
/// secrets, coordinates and serial numbers.
enum BundledText {
    private static let maximumLineLength = 4000
    private static let replacement = "…"

    /// Returns the lines of `bytes`, redacted.
    static func redactedLines(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            text += redactedLine(ReportedText(bytes: line, limit: maximumLineLength).description).utf8
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// The minimum number of digits that identify a modem or its SIM card. An IMEI or IMSI has 15.
    private static let minimumIdentityDigits = 15

    /// Returns `text` without serial numbers and coordinates. A number counts as a coordinate if it has at least four
    /// decimals, or if a hemisphere follows it.
    static func redactedLine(_ text: String) -> String {
        let text = withoutSerialNumbers(text)
        var shown = ""
        var rest = text.utf8[...]
        while let start = rest.firstIndex(where: \.isDigit) {
            let before = rest[..<start]
            let after = rest[start...]
            let number = after.prefix(while: \.isDigit)
            let end = endOfLeadingCoordinate(in: after)
            let isShown = end == nil && number.count < minimumIdentityDigits
            shown += Substring(before) + (isShown ? Substring(number) : Substring(replacement))
            rest = after[(end ?? number.endIndex)...]
        }
        return shown + Substring(rest)
    }

    /// Returns `text` without the serial numbers in udev's names for serial ports, such as
    /// `usb-VENDOR_MODEL_SERIAL-if00`. The serial number of a modem may be its IMEI.
    private static func withoutSerialNumbers(_ text: String) -> String {
        guard let start = text.firstRange(of: "/dev/serial/by-id/") else { return text }
        let name = text[start.upperBound...].prefix { !$0.isWhitespace && !"\",;:".contains($0) }
        guard let serial = name.lastIndex(of: "_") else { return text }
        let end = name[serial...].firstIndex(of: "-") ?? name.endIndex
        return String(text[...serial]) + replacement + withoutSerialNumbers(String(text[end...]))
    }

    /// Returns the end of the coordinate with which `text` begins; `nil` if it doesn't begin with one. A coordinate has
    /// at least four decimals, such as `48.1371`, or is followed by its hemisphere, such as `4808.2,N`.
    private static func endOfLeadingCoordinate(in text: Substring.UTF8View) -> String.Index? {
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

    /// Returns the service's status, redacted. The directions to satellites are removed, because they reveal the
    /// vehicle's region.
    static func redactedStatus(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(redactedLine(text))
        case .array(let values): .array(values.map(redactedStatus))
        case .object(let members):
            .object(
                members.filter { !["elevationDegrees", "azimuthDegrees"].contains($0.key) }
                    .mapValues(redactedStatus))
        case .null, .bool, .integer, .number: value
        }
    }

    /// The keys whose values are shown in full. Under any other key, such as a misspelt one, the value may be a secret
    /// or a private zone.
    private static let plainKeys = Set(ConfigurationKey.all.filter(\.isNumber).map(\.name)).union([
        "caFile", "clientCertificateFile", "clientKeyFile", "credential", "device", "durability", "environment",
        "expirationFormat", "expirationKey", "file", "format", "host", "level", "listen", "method", "path", "policy",
        "privateModeFile", "providerId", "scheme", "service", "stateOnStop", "stateWhileRunning", "tokenKey",
        "tokenShape",
        "type", "vehicleId",
    ])
    /// The keys whose values are URLs, which are shown without credentials and without anything after the path.
    private static let urlKeys: Set = ["endpoint", "url"]

    /// Returns the configuration `value`, redacted.
    static func redactedConfiguration(_ value: JSONValue, under key: String = "") -> JSONValue {
        if key == "privateZones" { return .string(replacement) }
        switch value {
        case .string(let text):
            guard plainKeys.contains(key) || urlKeys.contains(key) else { return .string(replacement) }
            let shown = urlKeys.contains(key) ? ConfigurationSection.withoutSecrets(text) : text
            return .string(redactedLine(ReportedText(shown, limit: maximumLineLength).description))
        case .array(let values):
            // Only the program of a command is shown, because its arguments may contain a secret.
            return .array(
                values.enumerated().map { index, value in
                    redactedConfiguration(value, under: key == "command" && index == 0 ? "path" : "")
                })
        case .object(let members):
            let named = key == "headers" || key == "environment"  // their members have arbitrary names
            return .object(
                Dictionary(
                    uniqueKeysWithValues: members.filter { $0.key != "$schema" }.map { member in
                        (member.key, redactedConfiguration(member.value, under: named ? "" : member.key))
                    }))
        case .integer, .number: return plainKeys.contains(key) ? value : .string(replacement)
        case .null, .bool: return value
        }
    }
}
