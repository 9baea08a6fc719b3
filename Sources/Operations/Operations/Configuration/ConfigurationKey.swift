package import StrictJSON

/// A key of the configuration. The code that reads a key also declares it, so that the schema, the manual and `waypost
/// config` always match that code.
package struct ConfigurationKey: Sendable, Hashable {
    /// The form of a key's value.
    package enum Form: Sendable, Hashable {
        /// An object that contains further keys.
        case section
        /// A non-empty string, or a `ValueReference` to one.
        case string
        /// One of the given words, or a `ValueReference` to one.
        case choice([String])
        case flag
        case integer(ClosedRange<Int>, orWord: String? = nil)
        /// One of the given numbers, or the given word.
        case number([Int], orWord: String)
        /// A number of seconds within the range. It may have a fraction.
        case seconds(ClosedRange<Double>)
        /// A non-empty list, whose elements are strings or `ValueReference`s.
        case strings
        /// A list of circles, which are objects with `latitude`, `longitude` and `radiusMeters`.
        case circles(atMost: Int)
        /// A string, or a `ValueReference` that is resolved each time the secret is used.
        case secret
        /// An object of secrets by name. If they are headers, each may have an authentication scheme.
        case secrets(asHeaders: Bool)
    }

    /// The path of the key, which includes its sections, such as `upload.retry.initialDelaySeconds`.
    package let path: String
    /// The `type` that the section must have for this key to be allowed; `nil` if the key is allowed for every type.
    package let type: String?
    package let form: Form
    package let isRequired: Bool
    /// The default value, which is used if the key is missing; `nil` if there is no default.
    package let fallback: JSONValue?
    /// Whether the value may be or contain a secret.
    package let isSecret: Bool
    /// A short description of the key, without a full stop.
    package let description: String

    /// Every key. The keys of a section are together, in the order in which they are read.
    package static let all = Configuration.declaredKeys

    /// The current names of keys that have been renamed. They are indexed by the path of the old key.
    static let newNames = [
        "reporting.liveMeters": "liveToleranceMeters", "reporting.longestIntervalSeconds": "maximumIntervalSeconds",
        "reporting.trackMeters": "trackToleranceMeters", "vehicle.privateWhen": "privateModeFile",
    ]

    /// Remedies for keys that other programs have but Waypost doesn't. They are indexed by the letters of the key's
    /// name, in lower case.
    static let foreignKeyRemedies: [String: String] = {
        let log = "remove it; the log goes to standard error, and thus to the journal (journalctl -u waypost)"
        let verification =
            "remove it; certificates are always verified, and \"caFile\" specifies your own certificate authorities"
        let proxy = #"write "proxy": { "url": "http://HOST:PORT" } in "upload" and in "authorization""#
        return [
            "logfile": log, "logpath": log, "logoutput": log, "insecure": verification, "skipverify": verification,
            "verify": verification, "verifytls": verification, "verifyssl": verification, "proxy": proxy,
            "httpproxy": proxy, "httpsproxy": proxy, "proxyurl": proxy,
            "apikey": "move it into \"headers\" of \"authorization\", under the name that the endpoint expects",
        ]
    }()

    /// Returns the keys whose name or path consists of the same letters as `word`. Case and all other characters are
    /// ignored.
    static func keys(meantBy word: String) -> [Self] {
        func letters(_ text: String) -> String { text.lowercased().filter(\.isLetter) }
        return all.filter { [letters($0.name), letters($0.path)].contains(letters(word)) }
    }

    /// Returns a list of the keys that `word` may mean, such as `"a" or "b"`; `nil` if there are none, or more than
    /// four.
    package static func pathSuggestion(for word: String) -> String? {
        var paths: [String] = []
        for key in keys(meantBy: word) where !paths.contains(key.path) { paths.append(key.path) }
        return (1...4).contains(paths.count) ? ConfigurationSection.alternatives(paths.map { "\"\($0)\"" }) : nil
    }

    /// The name of the key, which is the last component of its path.
    package var name: String { path.split(separator: ".").last.map(String.init) ?? path }

    /// Whether the value may be a number.
    var isNumber: Bool {
        switch form {
        case .integer, .number, .seconds: true
        case .section, .string, .choice, .flag, .strings, .circles, .secret, .secrets: false
        }
    }

    /// A description of the allowed values, such as `5 to 60` or `full, economy`.
    package var allowedValues: String {
        switch form {
        case .section: "section"
        case .string: "string"
        case .choice(let words): words.joined(separator: ", ")
        case .flag: "true, false"
        case .integer(let range, let word):
            "\(range.lowerBound) to \(range.upperBound)" + (word.map { ", \"\($0)\"" } ?? "")
        case .number(let numbers, let word): numbers.map(String.init).joined(separator: ", ") + ", \"\(word)\""
        case .seconds(let range):
            "\(JSONValue.number(range.lowerBound).text) to \(JSONValue.number(range.upperBound).text)"
        case .strings: "list of strings"
        case .circles(let count): "list of at most \(count) circles"
        case .secret: "string, fetched at each use"
        case .secrets: "strings by name, fetched at each use"
        }
    }
}

/// The current value of one key of a configuration, and the source of that value.
package struct ConfigurationSetting: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case fallback
        /// The configuration file. The value is the line number, counted from 1.
        case line(Int)
        case reference(ValueReference)
    }

    package let path: String
    /// The value, with `…` in place of secrets; `nil` if the key is missing and has no default.
    package let value: JSONValue?
    package let source: Source
    /// Whether the value may be a secret although every user can read the file that it comes from.
    let isOpenSecret: Bool

    /// The text that replaces a secret.
    static let redacted = JSONValue.string("…")
}

extension Configuration {
    /// A hash of the settings (64-bit FNV-1a). It doesn't include secrets, and includes references instead of their
    /// values. Vehicles with the same configuration file therefore have the same hash.
    package var hash: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for setting in settings {
            var value = setting.value?.text ?? ""
            if case .reference(let reference) = setting.source { value = reference.description }
            for byte in "\(setting.path) \(value)\n".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
