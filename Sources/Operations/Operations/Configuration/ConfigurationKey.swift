package import StrictJSON

/// One key of the configuration as its reader declares it: reading a key is what declares it, so that what is told of
/// the keys (schema, manual, the list of what is in force) and what is read cannot disagree.
package struct ConfigurationKey: Sendable, Hashable {
    /// What may stand there.
    package enum Form: Sendable, Hashable {
        /// An object with keys of its own.
        case section
        /// Not empty; here as in `choice` and `texts` it may be a `ValueReference`.
        case text
        /// One of these words.
        case choice([String])
        /// `true` or `false`.
        case flag
        case integer(ClosedRange<Int>, orWord: String? = nil)
        /// One of these numbers, or the word.
        case number([Int], orWord: String)
        /// Seconds, which may be a fraction.
        case seconds(ClosedRange<Double>)
        /// A list, not empty.
        case texts
        /// A list of at most so many circles: `latitude`, `longitude`, `radiusMeters`.
        case circles(atMost: Int)
        /// A text or a reference, fetched anew each time that it is used.
        case secret
        /// Such secrets by names of the writer's own; as headers, each with a scheme.
        case secrets(asHeaders: Bool)
    }

    /// With the sections that it stands in, as `upload.retry.initialDelaySeconds`.
    package let path: String
    /// For which `type` of its section it is read; `nil` when for each.
    package let type: String?
    package let form: Form
    package let isRequired: Bool
    /// What counts when it is missing; `nil` when nothing does.
    package let fallback: JSONValue?
    /// Whether its value may be a secret, or hold one.
    package let isSecret: Bool
    /// What it means, in a few words, without a full stop.
    package let about: String

    /// Every key, in the order in which they are read.
    package static let all = Configuration.declaredKeys

    /// Keys of earlier builds, with their present names.
    static let renamed = [
        "reporting.liveMeters": "liveToleranceMeters", "reporting.longestIntervalSeconds": "maximumIntervalSeconds",
        "reporting.trackMeters": "trackToleranceMeters", "vehicle.privateWhen": "privateModeFile",
    ]

    /// Those whose name `word` is, or whose path it is run together; neither case counts, nor what joins its parts.
    static func meant(by word: String) -> [Self] {
        func letters(_ text: String) -> String { text.lowercased().filter(\.isLetter) }
        return all.filter { [letters($0.name), letters($0.path)].contains(letters(word)) }
    }

    /// The paths of those, as `"a" or "b"`; `nil` when there are none, or too many for a guess.
    package static func paths(meantBy word: String) -> String? {
        var paths: [String] = []
        for key in meant(by: word) where !paths.contains(key.path) { paths.append(key.path) }
        return (1...4).contains(paths.count) ? ConfigurationSection.alternatives(paths.map { "\"\($0)\"" }) : nil
    }

    /// The last word of its path.
    package var name: String { path.split(separator: ".").last.map(String.init) ?? path }

    /// Whether a number may stand there.
    var isNumber: Bool {
        switch form {
        case .integer, .number, .seconds: true
        case .section, .text, .choice, .flag, .texts, .circles, .secret, .secrets: false
        }
    }

    /// What may stand there, in words: `5 to 60`, `full, economy`.
    package var range: String {
        switch form {
        case .section: "section"
        case .text: "text"
        case .choice(let words): words.joined(separator: ", ")
        case .flag: "true, false"
        case .integer(let range, let word):
            "\(range.lowerBound) to \(range.upperBound)" + (word.map { ", \"\($0)\"" } ?? "")
        case .number(let numbers, let word): numbers.map(String.init).joined(separator: ", ") + ", \"\(word)\""
        case .seconds(let range):
            "\(JSONValue.number(range.lowerBound).text) to \(JSONValue.number(range.upperBound).text)"
        case .texts: "list of texts"
        case .circles(let count): "list of at most \(count) circles"
        case .secret: "text, fetched at each use"
        case .secrets: "texts by name, fetched at each use"
        }
    }
}

/// What is in force under one path of a configuration that was read, and where it came from.
package struct ConfigurationSetting: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        /// It is not configured.
        case fallback
        /// It stands in the configuration, on this line.
        case line(Int)
        case reference(ValueReference)
    }

    package let path: String
    /// Without secrets: `…` stands in their place. `nil` when there is nothing.
    package let value: JSONValue?
    package let source: Source
    /// A file that may hold a secret, and that every user may read.
    let isOpenSecret: Bool

    /// What stands in the place of a secret.
    static let struck = JSONValue.string("…")
}

extension Configuration {
    /// A hash of the settings in force (64-bit FNV-1a). Secrets are left out, and a value from elsewhere counts by the
    /// place that it comes from, so that vehicles with the same configuration file have the same hash.
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
