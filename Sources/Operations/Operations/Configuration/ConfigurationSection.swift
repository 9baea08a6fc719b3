import ReportedText
import Reporting
import StrictJSON

/// An object in the configuration. A member is declared as a key when it is read. `finish` reports the members that
/// haven't been read, because they are unknown.
struct ConfigurationSection {
    /// The section's path, such as `upload.retry`; empty for the whole document.
    let path: String
    /// The section's members; `nil` if the section is missing. A missing section is reported once, and not for each of
    /// its keys.
    private let members: [String: JSONValue]?
    private let reading: ConfigurationReading
    private var knownKeys: Set<String> = []
    /// The value of the key `type`; `nil` until it has been read. All keys that are read later apply only to this type.
    private var type: String?
    /// The names of the placeholders that a template in this section may contain.
    var placeholders = ["vehicleId", "providerId"]

    init(path: String, members: [String: JSONValue]?, reading: ConfigurationReading) {
        self.path = path
        self.members = members
        self.reading = reading
    }

    func has(_ key: String) -> Bool { members?[key] != nil }

    /// Returns the value under `key`; `nil` if it is missing. Marks the key as known, so that `finish` doesn't report
    /// it.
    mutating func readMember(_ key: String) -> JSONValue? {
        knownKeys.insert(key)
        return members?[key]
    }

    /// Returns the section under `key`, or an empty section if it is missing. If `isRequired` is `true`, a missing
    /// section is reported as a problem.
    ///
    /// If the value isn't an object, the message shows `example`.
    mutating func section(
        _ key: String, isRequired: Bool = false, as example: String? = nil, _ description: String
    ) -> ConfigurationSection {
        declare(key, .section, isRequired: isRequired, description)
        let value = readMember(key)
        if value == nil, isRequired {
            reportMissing(key, advice: "write an object in braces; config.example.json contains an example")
        }
        if let value, value.objectValue == nil {
            reportWrongKind(key, value, advice: Self.objectAdvice + (example.map { ", such as \($0)" } ?? ""))
        }
        var section = ConfigurationSection(path: keyPath(key), members: value?.objectValue, reading: reading)
        section.type = type
        return section
    }

    /// Returns the non-empty string under `key`, or `fallback` if it is missing. If `fallback` is `nil`, a missing
    /// string is reported as a problem, with `example` in the remedy.
    mutating func string(
        _ key: String, default fallback: String? = nil, as example: String? = nil, _ description: String
    ) -> String {
        requiredText(
            key, default: fallback, ifMissing: example.map { "write a string in quotes, such as \"\($0)\"" },
            description)?
            .text ?? ""
    }

    /// Returns the non-empty string under `key`; `nil` if it is missing. If the string is a secret, messages don't show
    /// it.
    mutating func optionalString(_ key: String, isSecret: Bool = false, _ description: String) -> String? {
        text(key, redactedBy: isSecret ? { _ in "…" } : nil, description)?.text
    }

    /// Returns the string under `key`, converted by `convert`. Returns `nil` if it is missing or can't be converted; a
    /// failed conversion is reported as a problem.
    ///
    /// Messages show the string as `redact` returns it, without secrets.
    mutating func convertedText<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, default fallback: String? = nil, ifMissing advice: String? = nil,
        redactedBy redact: ((String) -> String)? = nil, _ description: String,
        _ convert: (String) throws(Failure) -> Value
    ) -> Value? {
        guard let found = requiredText(key, default: fallback, ifMissing: advice, redactedBy: redact, description)
        else {
            return nil
        }
        do { return try convert(found.text) } catch {
            let problem =
                found.reference.map { "comes from \($0), whose value \(error)" }
                ?? "is \"\(redact?(found.text) ?? found.text)\", which \(error)"
            reportProblem(with: key, problem)
            return nil
        }
    }

    /// Returns the Boolean under `key`, or `fallback` if it is missing.
    mutating func flag(_ key: String, default fallback: Bool, _ description: String) -> Bool {
        let value = readMember(key)
        if let value, value.boolValue == nil { reportWrong(key, value, advice: "use true or false, without quotes") }
        let flag = value?.boolValue ?? fallback
        declareAndRecord(key, .flag, .bool(flag), default: .bool(fallback), description)
        return flag
    }

    /// Returns the duration under `key`, in seconds. It must be within `range`, and may have a fraction.
    mutating func seconds(
        _ key: String, in range: ClosedRange<Double>, default fallback: Double, _ description: String
    ) -> Duration {
        var seconds = fallback
        if let value = readMember(key) {
            if let number = value.doubleValue, range.contains(number) {
                seconds = number
            } else {
                reportWrong(
                    key, value,
                    advice:
                        "use a number of seconds from \(Self.numberText(range.lowerBound)) to \(Self.numberText(range.upperBound))"
                )
            }
        }
        declareAndRecord(key, .seconds(range), .number(seconds), default: .number(fallback), description)
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// Returns the case of `Choice` that the word under `key` names; `fallback` if the key is missing.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Choice, _ description: String
    ) -> Choice where Choice.RawValue == String {
        readChoice(key, fallback, description) ?? fallback
    }

    /// Returns the case of `Choice` that the word under `key` names. The key is required.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ description: String
    ) -> Choice? where Choice.RawValue == String {
        readChoice(key, nil, description)
    }

    private mutating func readChoice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ fallback: Choice?, _ description: String
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let choices = "use \(Self.alternatives(words.map { "\"\($0)\"" }))"
        let advice = "\(choices) (\(description))"
        let found = readText(under: key, advice: advice)
        let choice = found.flatMap { Choice(rawValue: $0.text) }
        if let found, choice == nil {
            let guess = Self.suggestion(for: found.text, among: words)
            reportProblem(
                with: key,
                found.reference.map { "comes from \($0), whose value is not allowed; \(advice)" }
                    ?? "is \"\(found.text)\"; \(guess.isEmpty ? advice : choices + guess)")
        }
        if fallback == nil, !has(key) { reportMissing(key, advice: advice) }
        let value = choice ?? fallback
        declareAndRecord(
            key, .choice(words), (value?.rawValue).map(JSONValue.string),
            default: (fallback?.rawValue).map(JSONValue.string), isRequired: fallback == nil, from: found, description)
        if key == "type" { type = value?.rawValue }
        return value
    }

    /// Returns the non-empty list of strings under `key`. Every string except the first may be a secret.
    mutating func strings(_ key: String, _ description: String) -> [String] {
        let advice = "use a list of strings, such as [\"/usr/bin/program\", \"argument\"]"
        let elements = readMember(key)?.arrayValue ?? []
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            if let text = element.stringValue { texts.append(text) }
            guard let members = element.objectValue, let found = resolvedText(members, under: "\(key)[\(index)]") else {
                continue
            }
            texts.append(found.text)
            recordValue(
                "\(key)[\(index)]", ConfigurationSetting.redacted, isPresent: true, from: found.reference,
                isOpenSecret: found.isWorldReadable)
        }
        let isList = elements.allSatisfy { $0.stringValue != nil || $0.objectValue != nil }
        switch readMember(key) {
        case nil: reportMissing(key, advice: advice)
        case .array([])?: reportProblem(with: key, "is empty; \(advice)")
        case let value? where elements.isEmpty || !isList: reportWrongKind(key, value, advice: advice)
        default: break
        }
        let shown = elements.enumerated().map { index, element in
            index == 0 && element.stringValue != nil ? element : ConfigurationSetting.redacted
        }
        declareAndRecord(key, .strings, .array(shown), isRequired: true, isSecret: true, description)
        return texts
    }

    /// Returns the list of circles under `key`, which may be empty. The circles are treated as secrets.
    mutating func circles(_ key: String, atMost count: Int, _ description: String) -> [PrivateZone] {
        let value = readMember(key)
        let elements = value?.arrayValue ?? []
        if let value, value.arrayValue == nil {
            reportWrongKind(key, value, advice: "use a list of circles, such as [\(CircleMember.example)]")
        }
        if elements.count > count { reportProblem(with: key, "has \(elements.count) circles; use at most \(count)") }
        declareAndRecord(
            key, .circles(atMost: count), .array(elements.map { _ in ConfigurationSetting.redacted }),
            default: .array([]), isSecret: true, description)
        return elements.enumerated().compactMap { index, element in
            guard let members = element.objectValue else {
                reportWrongKind("\(key)[\(index)]", element, advice: "use a circle, such as \(CircleMember.example)")
                return nil
            }
            var circle = ConfigurationSection(path: keyPath("\(key)[\(index)]"), members: members, reading: reading)
            let numbers = CircleMember.all.compactMap { circle.readNumber($0) }
            circle.finish()
            guard numbers.count == 3 else { return nil }
            return PrivateZone(latitude: numbers[0], longitude: numbers[1], radiusMeters: numbers[2])
        }
    }

    private mutating func readNumber(_ member: CircleMember) -> Double? {
        let value = self.readMember(member.name)
        if let number = value?.doubleValue, member.range.contains(number) { return number }
        switch value {
        case nil: reportMissing(member.name, advice: "use \(member.rangeText)")
        case .integer, .number: reportProblem(with: member.name, "is out of range; use \(member.rangeText)")
        case let other?: reportWrongKind(member.name, other, advice: "use \(member.rangeText), without quotes")
        }
        return nil
    }

    private static let objectAdvice = "use an object in braces"

    /// Returns the members of the object under `key`, sorted by name; empty if the key is missing. Their values may be
    /// secrets.
    mutating func entries(_ key: String) -> [(name: String, value: JSONValue)] {
        guard let value = readMember(key) else { return [] }
        if value.objectValue == nil {
            reportWrongKind(key, value, advice: Self.objectAdvice + #", such as {"NAME": "value"}"#)
        }
        return (value.objectValue ?? [:]).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// Reports a problem with the value under `key`.
    func reportProblem(with key: String, _ problem: String) { reading.addProblem(problem, at: keyPath(key)) }

    /// Returns whether a problem with the value under `key` has been reported. If so, problems that follow from it
    /// needn't be reported.
    func isRejected(_ key: String) -> Bool { reading.hasProblem(at: keyPath(key)) }

    /// Reports a problem if the time under `key` is shorter than the time under `other`. Reports nothing if there is
    /// already a problem with one of the two.
    func require(
        _ key: String, lasting time: Duration, notShorterThan other: String, lasting minimum: Duration
    ) {
        guard time < minimum, !isRejected(key), !isRejected(other) else { return }
        let seconds = [time, minimum].map { Self.numberText($0 / .seconds(1)) }
        reportProblem(
            with: key, "is \(seconds[0]), shorter than \"\(other)\", which is \(seconds[1]); make it at least as long")
    }
}

// MARK: - Whole numbers

extension ConfigurationSection {
    /// Returns the whole number under `key`, which must be within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int, _ description: String)
        -> Int
    {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound)"
        return integer(key, .integer(range), where: range.contains, default: fallback, advice, description) ?? fallback
    }

    /// Returns the number under `key`, which must be one of `choices`. Returns `nil` if the value is `word` instead.
    mutating func integer(
        _ key: String, among choices: [Int], or word: String, default fallback: Int, _ description: String
    ) -> Int? {
        let advice = "use \(Self.alternatives(choices.map(String.init) + ["\"\(word)\""]))"
        return integer(
            key, .number(choices, orWord: word), where: choices.contains, or: word, default: fallback, advice,
            description)
    }

    /// Returns the whole number under `key`, which must be within `range`. Returns `nil` if the value is `word`
    /// instead.
    mutating func integer(
        _ key: String, in range: ClosedRange<Int>, default fallback: Int?, or word: String, _ description: String
    ) -> Int? {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound), or \"\(word)\""
        return integer(
            key, .integer(range, orWord: word), where: range.contains, or: word, default: fallback, advice, description)
    }

    private mutating func integer(
        _ key: String, _ form: ConfigurationKey.Form, where isAllowed: (Int) -> Bool, or word: String? = nil,
        default fallback: Int?, _ advice: String, _ description: String
    ) -> Int? {
        var value = fallback
        switch readMember(key) {
        case .integer(let number)? where isAllowed(Int(number)): value = Int(number)
        case .string(let text)? where text == word: value = nil
        case nil: break
        case let other?:
            reportWrong(
                key, other,
                advice: advice + Self.suggestion(for: other.stringValue ?? "", among: word.map { [$0] } ?? []))
        }
        func shown(_ value: Int?) -> JSONValue? { value.map { .integer(Int64($0)) } ?? word.map(JSONValue.string) }
        declareAndRecord(key, form, shown(value), default: shown(fallback), description)
        return value
    }
}

// MARK: - Unknown keys

extension ConfigurationSection {
    /// Reports each member that wasn't read. If a known key has a similar name and is missing, suggests that key
    /// instead of also reporting it as missing.
    func finish() {
        var owner = "Waypost"
        if knownKeys.contains("type"), case .string(let type)? = members?["type"] {
            owner = "\"type\": \"\(ReportedText(type, limit: 60))\""
        }
        for key in (members ?? [:]).keys.sorted() where !knownKeys.contains(key) {
            if let name = ConfigurationKey.newNames[keyPath(key)] {
                reportProblem(with: key, "has a new name; write \"\(name)\"")
            } else {
                reportProblem(with: key, "is not a key of \(owner); \(remedy(forUnknown: key))")
            }
        }
    }

    private func remedy(forUnknown key: String) -> String {
        if let dot = key.firstIndex(of: "."), ConfigurationKey.all.contains(where: { $0.path == keyPath(key) }) {
            for path in [keyPath(key), keyPath(String(key[..<dot]))] { reading.markMisspelt(at: path) }
            return "write it as \"\(key[dot...].dropFirst())\" within \"\(key[..<dot])\""
        }
        // A key that belongs in another section isn't treated as a misspelling of a key of this section.
        let isElsewhere = ConfigurationKey.keys(meantBy: key).contains {
            path.isEmpty ? $0.path.contains(".") : $0.name == key && $0.path != path
        }
        if !isElsewhere, let guess = Spelling.nearest(to: key, among: knownKeys.filter { !has($0) }.sorted()) {
            reading.markMisspelt(at: keyPath(guess))
            return "did you mean \"\(guess)\"?"
        }
        let advice = [key, keyPath(key)].lazy.compactMap {
            ConfigurationKey.foreignKeyRemedies[$0.lowercased().filter(\.isLetter)]
        }
        if let advice = advice.first { return advice }
        let types = ConfigurationKey.all.filter { $0.path == keyPath(key) }.compactMap(\.type)
        let guess = ConfigurationKey.pathSuggestion(for: key)
        if let guess, types.isEmpty, path.isEmpty { return "did you mean \(guess)?" }
        let names = knownKeys.filter { $0 != "type" && $0 != "$schema" }.sorted().joined(separator: ", ")
        let keys = "\(path.isEmpty ? "sections" : "keys of \"\(path)\""): \(names)"
        guard types.isEmpty else {
            let condition = "it applies only if \"type\" is \(Self.alternatives(types.map { "\"\($0)\"" }))"
            return "\(condition); remove it (\(keys))"
        }
        return guess.map { "did you mean \($0)? (\(keys))" } ?? "correct or remove it (\(keys))"
    }
}

// MARK: - Strings

extension ConfigurationSection {
    /// A string, with the reference that it comes from.
    private struct FoundText {
        let text: String
        /// The reference that the string comes from; `nil` if the string is in the configuration itself.
        var reference: ValueReference?
        var isWorldReadable = false
    }

    /// Returns the string under `key`, or `fallback` if it is missing. If `fallback` is `nil`, a missing string is
    /// reported as a problem.
    private mutating func requiredText(
        _ key: String, default fallback: String?, ifMissing advice: String?,
        redactedBy redact: ((String) -> String)? = nil, _ description: String
    ) -> FoundText? {
        if fallback == nil, !has(key) {
            reportMissing(key, advice: (advice ?? "write a string in quotes") + " (\(description))")
        }
        return text(key, default: fallback, isRequired: fallback == nil, redactedBy: redact, description)
    }

    private mutating func text(
        _ key: String, default fallback: String? = nil, isRequired: Bool = false,
        redactedBy redact: ((String) -> String)? = nil, _ description: String
    ) -> FoundText? {
        let advice = "use a string in quotes" + (fallback.map { ", such as \"\($0)\"" } ?? "") + " (\(description))"
        var text = readText(under: key, advice: advice)
        if text?.text.isEmpty == true {
            reportWrong(key, .string(""), advice: advice)
            text = nil
        }
        declareAndRecord(
            key, .string, (text?.text ?? fallback).map { .string(redact?($0) ?? $0) },
            default: fallback.map(JSONValue.string), isRequired: isRequired, isSecret: redact != nil, from: text,
            description)
        return text ?? fallback.map { FoundText(text: $0) }
    }

    /// Returns the string under `key`, which may be empty; `nil` if it is missing. A value that is neither a string nor
    /// a reference is reported as a problem.
    private mutating func readText(under key: String, advice: String) -> FoundText? {
        switch readMember(key) {
        case .string(let text)?: return FoundText(text: text)
        case .object(let members)?: return resolvedText(members, under: key)
        case nil: return nil
        case let other?:
            reportWrong(key, other, advice: advice)
            return nil
        }
    }

    private func resolvedText(_ members: [String: JSONValue], under key: String) -> FoundText? {
        guard let reference = ValueReference(members) else {
            reportProblem(with: key, "is an object, but not a valid reference; use a string, \(ValueReference.forms)")
            return nil
        }
        do throws(ValueReference.Problem) {
            let found = try reading.value(of: reference)
            return FoundText(text: found.text, reference: reference, isWorldReadable: found.isWorldReadable)
        } catch {
            reportProblem(with: key, "comes from \(reference), which \(error)")
            return nil
        }
    }
}

// MARK: - Declarations and problems

extension ConfigurationSection {
    /// Declares that this section has the key `key`, with the given properties.
    func declare(
        _ key: String, _ form: ConfigurationKey.Form, default fallback: JSONValue? = nil, isRequired: Bool = false,
        isSecret: Bool = false, _ description: String
    ) {
        reading.declare(
            ConfigurationKey(
                path: keyPath(key), type: type, form: form, isRequired: isRequired, fallback: fallback,
                isSecret: isSecret, description: description))
    }

    /// Records the value under `key`. If the value comes from a credential, it is redacted as a secret.
    func recordValue(
        _ key: String, _ value: JSONValue?, isPresent: Bool, from reference: ValueReference? = nil,
        isOpenSecret: Bool = false
    ) {
        var shown = value
        if case .credential? = reference { shown = ConfigurationSetting.redacted }
        reading.recordValue(shown, at: keyPath(key), isPresent: isPresent, from: reference, isOpenSecret: isOpenSecret)
    }

    private func declareAndRecord(
        _ key: String, _ form: ConfigurationKey.Form, _ value: JSONValue?, default fallback: JSONValue? = nil,
        isRequired: Bool = false, isSecret: Bool = false, from found: FoundText? = nil, _ description: String
    ) {
        declare(key, form, default: fallback, isRequired: isRequired, isSecret: isSecret, description)
        recordValue(
            key, value, isPresent: has(key), from: found?.reference,
            isOpenSecret: isSecret && found?.isWorldReadable == true)
    }

    private func reportMissing(_ key: String, advice: String) {
        if members != nil { reading.addProblem("is missing; \(advice)", at: keyPath(key), isMissing: true) }
    }

    /// Reports that the value has the wrong type. The message doesn't quote the value, because it may be a secret.
    private func reportWrongKind(_ key: String, _ value: JSONValue, advice: String) {
        reportProblem(with: key, "is \(value.kind); \(advice)")
    }

    /// Reports that `value` can't be used under `key`, with `advice` as the remedy.
    func reportWrong(_ key: String, _ value: JSONValue, advice: String) {
        var shown = value.kind
        var hint = ""
        switch value {
        case .integer, .number, .bool: shown = value.text
        case .string(let text):
            shown = text.isEmpty ? "empty" : "\"\(ReportedText(text, limit: 60))\""
            if [text, advice].allSatisfy({ $0.contains(where: \.isNumber) }) {
                hint = Double(text) == nil ? "; a number has no quotes and no unit" : "; a number has no quotes"
            }
        case .object(let members) where ValueReference(members) != nil:
            hint = "; only a string can be replaced by a reference"
        case .object, .array, .null: break
        }
        reportProblem(with: key, "is \(shown); \(advice)\(hint)")
    }

    private func keyPath(_ key: String) -> String { path.isEmpty ? key : path + "." + key }

    /// Returns the words joined in a list such as `a, b or c`.
    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// Returns a question that suggests the word of `words` most similar to `word`, to be added to a sentence. Returns
    /// an empty string if none is similar.
    static func suggestion(for word: String, among words: [String]) -> String {
        Spelling.nearest(to: word, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    private static func numberText(_ number: Double) -> String { JSONValue.number(number).text }
}
