import ReportedText
import StrictJSON

/// One object of the configuration: hands out its members by key, notes those that are wrong, and at the end those that
/// were not read.
struct ConfigurationSection {
    private let path: String
    /// `nil` when there is no such section: what it lacks is then told once, of the section.
    private let members: [String: JSONValue]?
    private let problems: ConfigurationProblems
    private var known: Set<String> = []
    /// The words that may stand in braces in a template.
    var placeholders = ["vehicleId", "providerId"]

    init(path: String, members: [String: JSONValue]?, problems: ConfigurationProblems) {
        (self.path, self.members, self.problems) = (path, members, problems)
    }

    /// Whether there is anything under `key`.
    func has(_ key: String) -> Bool { members?[key] != nil }

    /// Whatever is under `key`, if anything is; the key is known from now on.
    mutating func member(_ key: String) -> JSONValue? {
        known.insert(key)
        return members?[key]
    }

    /// The object under `key`; one without members when it is missing, which is a problem if `isRequired`.
    mutating func section(_ key: String, isRequired: Bool = false) -> ConfigurationSection {
        switch member(key) {
        case .object(let members)?: return sub(key, members)
        case nil: if isRequired { missing(key, "write an object in braces, as in config.example.json") }
        case let other?: wrongKind(key, other, Self.objectAdvice)
        }
        return sub(key, nil)
    }

    /// A text that is not empty, as `example`; `fallback` when it is missing, which is a problem if there is none.
    mutating func string(_ key: String, default fallback: String? = nil, as example: String? = nil) -> String {
        if fallback == nil, member(key) == nil {
            missing(key, "write a text in quotes" + (example.map { ", as \"\($0)\"" } ?? ""))
        }
        return optionalString(key) ?? fallback ?? ""
    }

    /// A text that is not empty, if there is one.
    mutating func optionalString(_ key: String) -> String? {
        switch member(key) {
        case .string(let text)? where !text.isEmpty: return text
        case nil: return nil
        case let other?:
            wrong(key, other, "use a text in quotes")
            return nil
        }
    }

    /// A whole number within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int) -> Int {
        switch member(key) {
        case .integer(let value)? where range.contains(Int(value)): return Int(value)
        case nil: return fallback
        case let other?:
            wrong(key, other, "use a whole number from \(range.lowerBound) to \(range.upperBound)")
            return fallback
        }
    }

    /// One of the whole numbers in `choices`, or `nil` for `word`, which stands in their place.
    mutating func integer(_ key: String, among choices: [Int], or word: String, default fallback: Int) -> Int? {
        switch member(key) {
        case .integer(let value)? where choices.contains(Int(value)): return Int(value)
        case .string(word)?: return nil
        case nil: return fallback
        case let other?:
            wrong(key, other, "use \(Self.alternatives(choices.map(String.init) + ["\"\(word)\""]))")
            return fallback
        }
    }

    /// A whole number within `range`, or `nil` for `word`, which stands in its place and for a missing one.
    mutating func integer(_ key: String, in range: ClosedRange<Int>, or word: String) -> Int? {
        switch member(key) {
        case .integer(let value)? where range.contains(Int(value)): return Int(value)
        case .string(word)?, nil: return nil
        case let other?:
            wrong(key, other, "use a whole number from \(range.lowerBound) to \(range.upperBound), or \"\(word)\"")
            return nil
        }
    }

    /// `true` or `false`.
    mutating func flag(_ key: String, default fallback: Bool) -> Bool {
        switch member(key) {
        case .bool(let value)?: return value
        case nil: return fallback
        case let other?:
            wrong(key, other, "use true or false, without quotes")
            return fallback
        }
    }

    /// Seconds, which may be a fraction, within `range`.
    mutating func seconds(_ key: String, in range: ClosedRange<Double>, default fallback: Double) -> Duration {
        var seconds = fallback
        if let value = member(key) {
            if let number = value.doubleValue, range.contains(number) {
                seconds = number
            } else {
                wrong(key, value, "use seconds from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))")
            }
        }
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// One of the words of `Choice`; `fallback` when it is missing.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Choice
    ) -> Choice where Choice.RawValue == String {
        member(key) == nil ? fallback : choice(key) ?? fallback
    }

    /// One of the words of `Choice`, which has to be there.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let advice = "use \(Self.alternatives(words.map { "\"\($0)\"" }))"
        switch member(key) {
        case .string(let text)?:
            if let choice = Choice(rawValue: text) { return choice }
            let guess = Spelling.nearest(to: text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
            problems.add(keyPath(key), "is \"\(text)\"; \(advice)\(guess)")
        case nil: missing(key, advice)
        case let other?: wrong(key, other, advice)
        }
        return nil
    }

    /// A list of texts, at least one.
    mutating func strings(_ key: String) -> [String] {
        guard let value = member(key) else {
            missing(key, Self.listAdvice)
            return []
        }
        let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
        guard !texts.isEmpty, texts.count == value.arrayValue?.count else {
            wrongKind(key, value, Self.listAdvice)
            return []
        }
        return texts
    }

    private static let objectAdvice = "use an object in braces"
    private static let listAdvice = "use a list of texts, as [\"/usr/bin/program\", \"argument\"]"

    /// The members of the object under `key`, whatever their names are; empty when it is missing. They may be secrets.
    mutating func entries(_ key: String) -> [(name: String, value: JSONValue)] {
        switch member(key) {
        case .object(let members)?: return members.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
        case nil: return []
        case let other?:
            wrongKind(key, other, Self.objectAdvice)
            return []
        }
    }

    /// Converts the text under `key` where there is one; what the conversion throws is the problem.
    mutating func converted<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, default fallback: String? = nil, shownAs shown: (String) -> String = { $0 },
        _ convert: (String) throws(Failure) -> Value
    ) -> Value? {
        let text = string(key, default: fallback)
        guard !text.isEmpty else { return nil }
        do { return try convert(text) } catch {
            problems.add(keyPath(key), "is \"\(shown(text))\", which \(error)")
            return nil
        }
    }

    /// Notes a problem of this section's own making.
    func report(_ key: String, _ says: String) { problems.add(keyPath(key), says) }

    /// Notes every key that was not read, with the nearest one that exists and is not there; that one is then not told
    /// to be missing, too.
    func finish() {
        var owner = "Waypost"
        // A key may belong to another type.
        if known.contains("type"), case .string(let type)? = members?["type"] {
            owner = "\"type\": \"\(ReportedText(type, limit: 60))\""
        }
        for key in (members ?? [:]).keys.sorted() where !known.contains(key) {
            let guess = Spelling.nearest(to: key, among: known.filter { !has($0) }.sorted())
            problems.add(
                keyPath(key), "is not a key of \(owner); \(guess.map { "did you mean \"\($0)\"?" } ?? "remove it")")
            if let guess { problems.excuse(keyPath(guess)) }
        }
    }

    private func sub(_ key: String, _ members: [String: JSONValue]?) -> ConfigurationSection {
        ConfigurationSection(path: keyPath(key), members: members, problems: problems)
    }

    private func missing(_ key: String, _ advice: String) {
        if members != nil { problems.add(keyPath(key), "is missing; \(advice)", isAbsence: true) }
    }

    /// Without the value: where a section or a list belongs it may be a secret.
    private func wrongKind(_ key: String, _ value: JSONValue, _ advice: String) {
        problems.add(keyPath(key), "is \(value.kind); \(advice)")
    }

    private func wrong(_ key: String, _ value: JSONValue, _ advice: String) {
        let shown: String =
            switch value {
            case .integer(let number): "\(number)"
            case .number(let number): "\(number)"
            case .bool(let flag): "\(flag)"
            case .string(let text): text.isEmpty ? "empty" : "\"\(ReportedText(text, limit: 60))\""
            case .null, .array, .object: value.kind
            }
        let isQuoted = Double(value.stringValue ?? "") != nil && advice.contains { $0.isNumber }
        problems.add(keyPath(key), "is \(shown); \(advice)\(isQuoted ? "; a number has no quotes" : "")")
    }

    private func keyPath(_ key: String) -> String { path.isEmpty ? key : path + "." + key }

    /// `a, b or c`.
    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    private static func plain(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}

/// Collects what is wrong while a configuration is read, so that all of it can be reported at once.
final class ConfigurationProblems {
    private let file: String
    private var found: [(path: String, says: String, isAbsence: Bool)] = []

    var lines: [String] { found.map { "\(file): \"\($0.path)\" \($0.says)" } }

    init(file: String) { self.file = file }

    /// Notes that the value at `path` `says` something that it may not.
    ///
    /// `isAbsence`: there is nothing at `path`.
    func add(_ path: String, _ says: String, isAbsence: Bool = false) { found.append((path, says, isAbsence)) }

    /// What is said to be missing at `path` is there, under a wrong name.
    func excuse(_ path: String) { found.removeAll { $0.isAbsence && $0.path == path } }
}

/// Everything that is wrong with a configuration, at once.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One each: file, key path or line and column, value and remedy; behind what is no JSON the line, with a mark.
    public let problems: [String]

    package init(problems: [String]) { self.problems = problems }

    /// The problems, a line each.
    public var description: String { problems.joined(separator: "\n") }
}

/// Finds the word that was probably meant.
package enum Spelling {
    /// The word of `candidates` nearest to `word`, or the one of which either begins with the other; `nil` when none is
    /// near enough to be worth suggesting.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let nearest = candidates.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let nearest {
            let length = min(word.count, nearest.word.count)
            // Words of three letters with one in common are strangers.
            if nearest.distance <= (length > 3 ? length / 3 + 1 : 1) { return nearest.word }
        }
        let related = candidates.filter { $0.count > 2 && word.count > 2 && ($0.hasPrefix(word) || word.hasPrefix($0)) }
        return related.count == 1 ? related.first : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
    static func distance(_ one: String, _ other: String) -> Int {
        let (first, second) = (Array(one), Array(other))
        guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
        var rows = [[Int]](repeating: [Int](repeating: 0, count: second.count + 1), count: first.count + 1)
        for index in 0...first.count { rows[index][0] = index }
        for index in 0...second.count { rows[0][index] = index }
        for i in 1...first.count {
            for j in 1...second.count {
                let replaced = rows[i - 1][j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1)
                rows[i][j] = min(replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
                if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
                    rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
                }
            }
        }
        return rows[first.count][second.count]
    }
}
