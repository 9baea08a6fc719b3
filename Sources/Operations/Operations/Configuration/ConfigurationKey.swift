package import StrictJSON

/// A key of the configuration, as its reader declares it. Reading a key declares it, so that the schema, the manual and
/// `waypost config` can't disagree with the reader.
package struct ConfigurationKey: Sendable, Hashable {
    /// The kind of value.
    package enum Form: Sendable, Hashable {
        /// An object with its own keys.
        case section
        /// A string that isn't empty, or a `ValueReference`.
        case string
        /// One of these words, or a `ValueReference`.
        case choice([String])
        case flag
        case integer(ClosedRange<Int>, orWord: String? = nil)
        /// A number from the list, or the word.
        case number([Int], orWord: String)
        /// Seconds, which may have a fraction.
        case seconds(ClosedRange<Double>)
        /// A list of at least one string or `ValueReference`.
        case strings
        /// A list of circles with `latitude`, `longitude` and `radiusMeters`.
        case circles(atMost: Int)
        /// A string or a `ValueReference`, which is read at each use.
        case secret
        /// Secrets by name. A header's secret may have a scheme.
        case secrets(asHeaders: Bool)
    }

    /// The key with its sections, such as `upload.retry.initialDelaySeconds`.
    package let path: String
    /// The `type` of the section for which the key is read; `nil` if it is read for every type.
    package let type: String?
    package let form: Form
    package let isRequired: Bool
    /// The value that is used if the key is missing; `nil` if there is none.
    package let fallback: JSONValue?
    /// Whether the value may be a secret or contain one.
    package let isSecret: Bool
    /// A short description without a full stop.
    package let about: String

    /// Every key, in the order in which they are read.
    package static let all = Configuration.declaredKeys

    /// The current names of renamed keys, by old path.
    static let renamed = [
        "reporting.liveMeters": "liveToleranceMeters", "reporting.longestIntervalSeconds": "maximumIntervalSeconds",
        "reporting.trackMeters": "trackToleranceMeters", "vehicle.privateWhen": "privateModeFile",
    ]

    /// Remedies for keys known from other programs, keyed by the lower-case letters of the name.
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

    /// Returns the keys whose name or path has the same letters as `word`, ignoring case and other characters.
    static func keys(meantBy word: String) -> [Self] {
        func letters(_ text: String) -> String { text.lowercased().filter(\.isLetter) }
        return all.filter { [letters($0.name), letters($0.path)].contains(letters(word)) }
    }

    /// Returns the paths of the keys that `word` may mean, such as `"a" or "b"`; `nil` if there are none or more than
    /// four.
    package static func paths(meantBy word: String) -> String? {
        var paths: [String] = []
        for key in keys(meantBy: word) where !paths.contains(key.path) { paths.append(key.path) }
        return (1...4).contains(paths.count) ? ConfigurationSection.alternatives(paths.map { "\"\($0)\"" }) : nil
    }

    /// The last part of the path.
    package var name: String { path.split(separator: ".").last.map(String.init) ?? path }

    /// Whether the value may be a number.
    var isNumber: Bool {
        switch form {
        case .integer, .number, .seconds: true
        case .section, .string, .choice, .flag, .strings, .circles, .secret, .secrets: false
        }
    }

    /// A description of the values, such as `5 to 60` or `full, economy`.
    package var range: String {
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

/// The value at one path of a configuration, and its source.
package struct ConfigurationSetting: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        case fallback
        /// A line of the configuration, counted from 1.
        case line(Int)
        case reference(ValueReference)
    }

    package let path: String
    /// The value with `…` instead of secrets; `nil` if the key has neither value nor default.
    package let value: JSONValue?
    package let source: Source
    /// Whether the value may be a secret and comes from a file that every user can read.
    let isOpenSecret: Bool

    /// The text that is shown instead of a secret.
    static let redacted = JSONValue.string("…")
}

extension Configuration {
    /// A hash of the settings (64-bit FNV-1a). Secrets aren't included, and a value from elsewhere is represented by
    /// its source, so that vehicles with the same configuration file have the same hash.
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
