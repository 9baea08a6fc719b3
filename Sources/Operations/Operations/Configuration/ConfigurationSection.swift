import ReportedText
import Reporting
import StrictJSON

/// An object of the configuration. Reading a member by its key declares the key; `finish` reports the members that
/// weren't read.
struct ConfigurationSection {
    /// The section's path, such as `upload.retry`; empty for the whole document.
    let path: String
    /// The section's members; `nil` if the section is missing. That is reported once, instead of each missing
    /// key.
    private let members: [String: JSONValue]?
    private let reading: ConfigurationReading
    private var known: Set<String> = []
    /// The value of `type`, once it has been read. Keys that are read after it belong to that type.
    private var type: String?
    /// The words allowed in braces in a template.
    var placeholders = ["vehicleId", "providerId"]

    init(path: String, members: [String: JSONValue]?, reading: ConfigurationReading) {
        self.path = path
        self.members = members
        self.reading = reading
    }

    func has(_ key: String) -> Bool { members?[key] != nil }

    /// Returns the value under `key`; `nil` if it is missing. Marks the key as known, so `finish` doesn't report it.
    mutating func readMember(_ key: String) -> JSONValue? {
        known.insert(key)
        return members?[key]
    }

    /// Returns the section under `key`, or an empty one if it is missing. A missing section is a problem if
    /// `isRequired`.
    ///
    /// `example` is shown if the value isn't an object.
    mutating func section(
        _ key: String, isRequired: Bool = false, as example: String? = nil, _ about: String
    ) -> ConfigurationSection {
        declare(key, .section, isRequired: isRequired, about)
        let value = readMember(key)
        if value == nil, isRequired { reportMissing(key, "write an object in braces; config.example.json has one") }
        if let value, value.objectValue == nil {
            reportWrongKind(key, value, Self.objectAdvice + (example.map { ", such as \($0)" } ?? ""))
        }
        var section = ConfigurationSection(path: keyPath(key), members: value?.objectValue, reading: reading)
        section.type = type
        return section
    }

    /// Returns a string that isn't empty, or `fallback` if it is missing. If `fallback` is `nil`, a missing string is a
    /// problem, and `example` is shown as its remedy.
    mutating func string(
        _ key: String, default fallback: String? = nil, as example: String? = nil, _ about: String
    ) -> String {
        requiredText(
            key, default: fallback, ifMissing: example.map { "write a string in quotes, such as \"\($0)\"" }, about)?
            .text ?? ""
    }

    /// Returns a string that isn't empty; `nil` if it is missing. A secret is never shown.
    mutating func optionalString(_ key: String, isSecret: Bool = false, _ about: String) -> String? {
        text(key, redactedBy: isSecret ? { _ in "…" } : nil, about)?.text
    }

    /// Returns the converted string under `key`; `nil` if it is missing or the conversion fails. A failure is reported.
    ///
    /// `redact` removes secrets from the string before it is shown.
    mutating func convertedText<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, default fallback: String? = nil, ifMissing advice: String? = nil,
        redactedBy redact: ((String) -> String)? = nil, _ about: String, _ convert: (String) throws(Failure) -> Value
    ) -> Value? {
        guard let found = requiredText(key, default: fallback, ifMissing: advice, redactedBy: redact, about) else {
            return nil
        }
        do { return try convert(found.text) } catch {
            let problem =
                found.reference.map { "comes from \($0), whose value \(error)" }
                ?? "is \"\(redact?(found.text) ?? found.text)\", which \(error)"
            report(key, problem)
            return nil
        }
    }

    /// Returns the Boolean under `key`, or `fallback` if it is missing.
    mutating func flag(_ key: String, default fallback: Bool, _ about: String) -> Bool {
        let value = readMember(key)
        if let value, value.boolValue == nil { reportWrong(key, value, "use true or false, without quotes") }
        let flag = value?.boolValue ?? fallback
        note(key, .flag, .bool(flag), default: .bool(fallback), about)
        return flag
    }

    /// Returns the number of seconds under `key`, which must be within `range` and may have a fraction.
    mutating func seconds(
        _ key: String, in range: ClosedRange<Double>, default fallback: Double, _ about: String
    ) -> Duration {
        var seconds = fallback
        if let value = readMember(key) {
            if let number = value.doubleValue, range.contains(number) {
                seconds = number
            } else {
                reportWrong(
                    key, value, "use seconds from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))")
            }
        }
        note(key, .seconds(range), .number(seconds), default: .number(fallback), about)
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// Returns the case of `Choice` whose raw value is under `key`; `fallback` if it is missing.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Choice, _ about: String
    ) -> Choice where Choice.RawValue == String {
        readChoice(key, fallback, about) ?? fallback
    }

    /// Returns the case of `Choice` whose raw value is under `key`, which is required.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ about: String
    ) -> Choice? where Choice.RawValue == String {
        readChoice(key, nil, about)
    }

    private mutating func readChoice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ fallback: Choice?, _ about: String
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let advice = "use \(Self.alternatives(words.map { "\"\($0)\"" }))"
        let found = readText(key, advice)
        let choice = found.flatMap { Choice(rawValue: $0.text) }
        if let found, choice == nil {
            report(
                key,
                found.reference.map { "comes from \($0), whose value is not allowed; \(advice)" }
                    ?? "is \"\(found.text)\"; \(advice)\(Self.question(found.text, among: words))")
        }
        if fallback == nil, !has(key) { reportMissing(key, advice) }
        let value = choice ?? fallback
        note(
            key, .choice(words), (value?.rawValue).map(JSONValue.string),
            default: (fallback?.rawValue).map(JSONValue.string), isRequired: fallback == nil, from: found, about)
        if key == "type" { type = value?.rawValue }
        return value
    }

    /// Returns a list of at least one string. All strings but the first may be secrets.
    mutating func strings(_ key: String, _ about: String) -> [String] {
        let advice = "use a list of strings, such as [\"/usr/bin/program\", \"argument\"]"
        let elements = readMember(key)?.arrayValue ?? []
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            if let text = element.stringValue { texts.append(text) }
            guard let members = element.objectValue, let found = resolvedText(members, "\(key)[\(index)]") else {
                continue
            }
            texts.append(found.text)
            recordValue(
                "\(key)[\(index)]", ConfigurationSetting.redacted, isPresent: true, from: found.reference,
                isOpenSecret: found.isOpenToAll)
        }
        let isList = elements.allSatisfy { $0.stringValue != nil || $0.objectValue != nil }
        switch readMember(key) {
        case nil: reportMissing(key, advice)
        case .array([])?: report(key, "is empty; \(advice)")
        case let value? where elements.isEmpty || !isList: reportWrongKind(key, value, advice)
        default: break
        }
        let shown = elements.enumerated().map { index, element in
            index == 0 && element.stringValue != nil ? element : ConfigurationSetting.redacted
        }
        note(key, .strings, .array(shown), isRequired: true, isSecret: true, about)
        return texts
    }

    /// Returns a list of circles, which may be empty. The circles are secrets.
    mutating func circles(_ key: String, atMost count: Int, _ about: String) -> [PrivateZone] {
        let value = readMember(key)
        let elements = value?.arrayValue ?? []
        if let value, value.arrayValue == nil {
            reportWrongKind(key, value, "use a list of circles, such as [\(CircleMember.example)]")
        }
        if elements.count > count { report(key, "has \(elements.count) circles; use at most \(count)") }
        note(
            key, .circles(atMost: count), .array(elements.map { _ in ConfigurationSetting.redacted }),
            default: .array([]), isSecret: true, about)
        return elements.enumerated().compactMap { index, element in
            guard let members = element.objectValue else {
                reportWrongKind("\(key)[\(index)]", element, "use a circle, such as \(CircleMember.example)")
                return nil
            }
            var circle = ConfigurationSection(path: keyPath("\(key)[\(index)]"), members: members, reading: reading)
            let numbers = CircleMember.all.compactMap { circle.number($0) }
            circle.finish()
            guard numbers.count == 3 else { return nil }
            return PrivateZone(latitude: numbers[0], longitude: numbers[1], radiusMeters: numbers[2])
        }
    }

    private mutating func number(_ member: CircleMember) -> Double? {
        let value = self.readMember(member.name)
        if let number = value?.doubleValue, member.range.contains(number) { return number }
        if value == nil { reportMissing(member.name, "use \(member.rangeText)") }
        if value != nil { report(member.name, "cannot be used; use \(member.rangeText), without quotes") }
        return nil
    }

    private static let objectAdvice = "use an object in braces"

    /// Returns the members of the object under `key`, sorted by name; empty if it is missing. The values may be
    /// secrets.
    mutating func entries(_ key: String) -> [(name: String, value: JSONValue)] {
        guard let value = readMember(key) else { return [] }
        if value.objectValue == nil { reportWrongKind(key, value, Self.objectAdvice + #", such as {"NAME": "value"}"#) }
        return (value.objectValue ?? [:]).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// Reports a problem with the value under `key`.
    func report(_ key: String, _ problem: String) { reading.add(keyPath(key), problem) }

    /// Returns whether a problem with the value under `key` has been reported, so that its consequences needn't
    /// be reported.
    func isRejected(_ key: String) -> Bool { reading.hasProblem(at: keyPath(key)) }

    /// Reports the time under `key` if it is shorter than the time under `other`, unless a problem with one of these
    /// keys has already been reported.
    func require(_ key: String, _ time: Duration, notBelow other: String, _ minimum: Duration) {
        guard time < minimum, !isRejected(key), !isRejected(other) else { return }
        let seconds = [time, minimum].map { Self.plain($0 / .seconds(1)) }
        report(key, "is \(seconds[0]), shorter than \"\(other)\", which is \(seconds[1]); make it at least as long")
    }
}

// MARK: - Whole numbers

extension ConfigurationSection {
    /// Returns a whole number within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int, _ about: String) -> Int {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound)"
        return integer(key, .integer(range), where: range.contains, default: fallback, advice, about) ?? fallback
    }

    /// Returns one of `choices`; `nil` for `word`.
    mutating func integer(
        _ key: String, among choices: [Int], or word: String, default fallback: Int, _ about: String
    ) -> Int? {
        let advice = "use \(Self.alternatives(choices.map(String.init) + ["\"\(word)\""]))"
        return integer(
            key, .number(choices, orWord: word), where: choices.contains, or: word, default: fallback, advice, about)
    }

    /// Returns a whole number within `range`; `nil` for `word`.
    mutating func integer(
        _ key: String, in range: ClosedRange<Int>, default fallback: Int?, or word: String, _ about: String
    ) -> Int? {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound), or \"\(word)\""
        return integer(
            key, .integer(range, orWord: word), where: range.contains, or: word, default: fallback, advice, about)
    }

    private mutating func integer(
        _ key: String, _ form: ConfigurationKey.Form, where isRight: (Int) -> Bool, or word: String? = nil,
        default fallback: Int?, _ advice: String, _ about: String
    ) -> Int? {
        var value = fallback
        switch readMember(key) {
        case .integer(let number)? where isRight(Int(number)): value = Int(number)
        case .string(let text)? where text == word: value = nil
        case nil: break
        case let other?:
            reportWrong(key, other, advice + Self.question(other.stringValue ?? "", among: word.map { [$0] } ?? []))
        }
        func shown(_ value: Int?) -> JSONValue? { value.map { .integer(Int64($0)) } ?? word.map(JSONValue.string) }
        note(key, form, shown(value), default: shown(fallback), about)
        return value
    }
}

// MARK: - Unknown keys

extension ConfigurationSection {
    /// Reports every member that wasn't read, and suggests the nearest known key that isn't used. A suggested key isn't
    /// also reported as missing.
    func finish() {
        var owner = "Waypost"
        if known.contains("type"), case .string(let type)? = members?["type"] {
            owner = "\"type\": \"\(ReportedText(type, limit: 60))\""
        }
        for key in (members ?? [:]).keys.sorted() where !known.contains(key) {
            if let name = ConfigurationKey.renamed[keyPath(key)] {
                report(key, "has a new name; write \"\(name)\"")
            } else {
                report(key, "is not a key of \(owner); \(remedy(forUnknown: key))")
            }
        }
    }

    private func remedy(forUnknown key: String) -> String {
        if let dot = key.firstIndex(of: "."), ConfigurationKey.all.contains(where: { $0.path == keyPath(key) }) {
            for path in [keyPath(key), keyPath(String(key[..<dot]))] { reading.markMisnamed(path) }
            return "write it as \"\(key[dot...].dropFirst())\" within \"\(key[..<dot])\""
        }
        // A key of another section isn't a misspelled key of this section.
        let isElsewhere = ConfigurationKey.keys(meantBy: key).contains {
            path.isEmpty ? $0.path.contains(".") : $0.name == key && $0.path != path
        }
        if !isElsewhere, let guess = Spelling.nearest(to: key, among: known.filter { !has($0) }.sorted()) {
            reading.markMisnamed(keyPath(guess))
            return "did you mean \"\(guess)\"?"
        }
        let advice = [key, keyPath(key)].lazy.compactMap {
            ConfigurationKey.foreignKeyRemedies[$0.lowercased().filter(\.isLetter)]
        }
        if let advice = advice.first { return advice }
        let types = ConfigurationKey.all.filter { $0.path == keyPath(key) }.compactMap(\.type)
        if !types.isEmpty { return "it belongs to \"type\" \(Self.alternatives(types.map { "\"\($0)\"" })); remove it" }
        return ConfigurationKey.paths(meantBy: key).map { "did you mean \($0)?" } ?? "remove it"
    }
}

// MARK: - Strings

extension ConfigurationSection {
    /// A string and its source.
    private struct FoundText {
        let text: String
        /// The source of the string; `nil` if it is in the configuration itself.
        var reference: ValueReference?
        var isOpenToAll = false
    }

    /// Returns the string under `key`. A missing string is a problem if there is no `fallback`.
    private mutating func requiredText(
        _ key: String, default fallback: String?, ifMissing advice: String?,
        redactedBy redact: ((String) -> String)? = nil, _ about: String
    ) -> FoundText? {
        if fallback == nil, !has(key) { reportMissing(key, advice ?? "write a string in quotes") }
        return text(key, default: fallback, isRequired: fallback == nil, redactedBy: redact, about)
    }

    private mutating func text(
        _ key: String, default fallback: String? = nil, isRequired: Bool = false,
        redactedBy redact: ((String) -> String)? = nil, _ about: String
    ) -> FoundText? {
        let advice = "use a string in quotes" + (fallback.map { ", such as \"\($0)\"" } ?? "")
        var text = readText(key, advice)
        if text?.text.isEmpty == true {
            reportWrong(key, .string(""), advice)
            text = nil
        }
        note(
            key, .string, (text?.text ?? fallback).map { .string(redact?($0) ?? $0) },
            default: fallback.map(JSONValue.string), isRequired: isRequired, isSecret: redact != nil, from: text, about)
        return text ?? fallback.map { FoundText(text: $0) }
    }

    /// Returns the string under `key`, which may be empty; `nil` if it is missing. Any other value is a problem.
    private mutating func readText(_ key: String, _ advice: String) -> FoundText? {
        switch readMember(key) {
        case .string(let text)?: return FoundText(text: text)
        case .object(let members)?: return resolvedText(members, key)
        case nil: return nil
        case let other?:
            reportWrong(key, other, advice)
            return nil
        }
    }

    private func resolvedText(_ members: [String: JSONValue], _ key: String) -> FoundText? {
        guard let reference = ValueReference(members) else {
            report(key, "is an object that cannot be used; use a string, \(ValueReference.forms)")
            return nil
        }
        do throws(ValueReference.Problem) {
            let found = try reading.value(of: reference)
            return FoundText(text: found.text, reference: reference, isOpenToAll: found.isOpenToAll)
        } catch {
            report(key, "comes from \(reference), which \(error)")
            return nil
        }
    }
}

// MARK: - Declarations and problems

extension ConfigurationSection {
    /// Declares a key that is read, with its properties.
    func declare(
        _ key: String, _ form: ConfigurationKey.Form, default fallback: JSONValue? = nil, isRequired: Bool = false,
        isSecret: Bool = false, _ about: String
    ) {
        reading.declare(
            ConfigurationKey(
                path: keyPath(key), type: type, form: form, isRequired: isRequired, fallback: fallback,
                isSecret: isSecret, about: about))
    }

    /// Records the value under `key`. A value from a credential is a secret.
    func recordValue(
        _ key: String, _ value: JSONValue?, isPresent: Bool, from reference: ValueReference? = nil,
        isOpenSecret: Bool = false
    ) {
        var shown = value
        if case .credential? = reference { shown = ConfigurationSetting.redacted }
        reading.recordValue(keyPath(key), shown, isPresent: isPresent, reference, isOpenSecret: isOpenSecret)
    }

    private func note(
        _ key: String, _ form: ConfigurationKey.Form, _ value: JSONValue?, default fallback: JSONValue? = nil,
        isRequired: Bool = false, isSecret: Bool = false, from found: FoundText? = nil, _ about: String
    ) {
        declare(key, form, default: fallback, isRequired: isRequired, isSecret: isSecret, about)
        recordValue(
            key, value, isPresent: has(key), from: found?.reference,
            isOpenSecret: isSecret && found?.isOpenToAll == true)
    }

    private func reportMissing(_ key: String, _ advice: String) {
        if members != nil { reading.add(keyPath(key), "is missing; \(advice)", isAbsence: true) }
    }

    /// Reports a value of the wrong kind without showing it, because it may be a secret.
    private func reportWrongKind(_ key: String, _ value: JSONValue, _ advice: String) {
        report(key, "is \(value.kind); \(advice)")
    }

    /// Reports that `value` can't be used, with the remedy.
    func reportWrong(_ key: String, _ value: JSONValue, _ advice: String) {
        var shown = value.kind
        var hint = ""
        switch value {
        case .integer, .number, .bool: shown = value.text
        case .string(let text):
            shown = text.isEmpty ? "empty" : "\"\(ReportedText(text, limit: 60))\""
            if [text, advice].allSatisfy({ $0.contains(where: \.isNumber) }) {
                hint = Double(text) == nil ? "; a number has no quotes and no unit" : "; a number has no quotes"
            }
        case .object(let members) where ValueReference(members) != nil: hint = "; only a string can come from elsewhere"
        case .object, .array, .null: break
        }
        report(key, "is \(shown); \(advice)\(hint)")
    }

    private func keyPath(_ key: String) -> String { path.isEmpty ? key : path + "." + key }

    /// Returns the words as a list such as `a, b or c`.
    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// Returns the end of a sentence that asks whether the nearest of `words` was meant; empty if no word is near.
    static func question(_ word: String, among words: [String]) -> String {
        Spelling.nearest(to: word, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    private static func plain(_ number: Double) -> String { JSONValue.number(number).text }
}
