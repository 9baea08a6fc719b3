import ReportedText
import StrictJSON

/// One object of the configuration: hands out its members by key, which declares the key; notes those that are wrong,
/// and at the end those that were not read.
struct ConfigurationSection {
    private let path: String
    /// `nil` when there is no such section: what it lacks is then told once, of the section.
    private let members: [String: JSONValue]?
    private let reading: ConfigurationReading
    private var known: Set<String> = []
    /// The word under `type`, once that was read: what is read from then on is of that type.
    private var type: String?
    /// The words that may stand in braces in a template.
    var placeholders = ["vehicleId", "providerId"]

    init(path: String, members: [String: JSONValue]?, reading: ConfigurationReading) {
        self.path = path
        self.members = members
        self.reading = reading
    }

    /// Its path, such as `upload.retry`.
    var name: String { path }

    /// Whether there is anything under `key`.
    func has(_ key: String) -> Bool { members?[key] != nil }

    /// Whatever is under `key`, if anything is; the key is known from now on.
    mutating func member(_ key: String) -> JSONValue? {
        known.insert(key)
        return members?[key]
    }

    /// The object under `key`; one without members when it is missing, which is a problem if `isRequired`.
    ///
    /// `example`: such an object, for whoever wrote something else.
    mutating func section(
        _ key: String, isRequired: Bool = false, as example: String? = nil, _ about: String
    ) -> ConfigurationSection {
        declare(key, .section, isRequired: isRequired, about)
        switch member(key) {
        case .object(let members)?: return sub(key, members)
        case nil: if isRequired { missing(key, "write an object in braces, as in config.example.json") }
        case let other?: wrongKind(key, other, Self.objectAdvice + (example.map { ", as \($0)" } ?? ""))
        }
        return sub(key, nil)
    }

    /// A text that is not empty, as `example`; `fallback` when it is missing, which is a problem if there is none.
    mutating func string(
        _ key: String, default fallback: String? = nil, as example: String? = nil, _ about: String
    ) -> String {
        requiredText(key, default: fallback, ifMissing: example.map { "write a text in quotes, as \"\($0)\"" }, about)?
            .text ?? ""
    }

    /// A text that is not empty, if there is one. A secret is shown nowhere.
    mutating func optionalString(_ key: String, isSecret: Bool = false, _ about: String) -> String? {
        text(key, shownAs: isSecret ? { _ in "…" } : nil, about)?.text
    }

    /// Converts the text under `key` where there is one; what the conversion throws is the problem.
    ///
    /// `shown` leaves the secrets out that such a text may hold; it is given for keys whose texts may.
    mutating func converted<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, default fallback: String? = nil, ifMissing advice: String? = nil,
        shownAs shown: ((String) -> String)? = nil, _ about: String, _ convert: (String) throws(Failure) -> Value
    ) -> Value? {
        guard let found = requiredText(key, default: fallback, ifMissing: advice, shownAs: shown, about) else {
            return nil
        }
        do { return try convert(found.text) } catch {
            let says =
                found.reference.map { "takes from \($0) a value that \(error)" }
                ?? "is \"\(shown?(found.text) ?? found.text)\", which \(error)"
            reading.add(keyPath(key), says)
            return nil
        }
    }

    /// A whole number within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int>, default fallback: Int, _ about: String) -> Int {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound)"
        return number(key, .integer(range), where: range.contains, default: fallback, advice, about) ?? fallback
    }

    /// One of the whole numbers in `choices`, or `nil` for `word`, which stands in their place.
    mutating func integer(
        _ key: String, among choices: [Int], or word: String, default fallback: Int, _ about: String
    ) -> Int? {
        let advice = "use \(Self.alternatives(choices.map(String.init) + ["\"\(word)\""]))"
        return number(
            key, .number(choices, orWord: word), where: choices.contains, or: word, default: fallback, advice, about)
    }

    /// A whole number within `range`, or `nil` for `word`; the default stands in the place of a missing one.
    mutating func integer(
        _ key: String, in range: ClosedRange<Int>, default fallback: Int?, or word: String, _ about: String
    ) -> Int? {
        let advice = "use a whole number from \(range.lowerBound) to \(range.upperBound), or \"\(word)\""
        return number(
            key, .integer(range, orWord: word), where: range.contains, or: word, default: fallback, advice, about)
    }

    private mutating func number(
        _ key: String, _ form: ConfigurationKey.Form, where isRight: (Int) -> Bool, or word: String? = nil,
        default fallback: Int?, _ advice: String, _ about: String
    ) -> Int? {
        var value = fallback
        switch member(key) {
        case .integer(let number)? where isRight(Int(number)): value = Int(number)
        case .string(let text)? where text == word: value = nil
        case nil: break
        case let other?:
            let guess = other.stringValue.flatMap { Spelling.nearest(to: $0, among: word.map { [$0] } ?? []) }
            wrong(key, other, advice + (guess.map { "; did you mean \"\($0)\"?" } ?? ""))
        }
        func told(_ value: Int?) -> JSONValue? { value.map { .integer(Int64($0)) } ?? word.map(JSONValue.string) }
        note(key, form, told(value), default: told(fallback), about)
        return value
    }

    /// `true` or `false`.
    mutating func flag(_ key: String, default fallback: Bool, _ about: String) -> Bool {
        var value = fallback
        switch member(key) {
        case .bool(let isTrue)?: value = isTrue
        case nil: break
        case let other?: wrong(key, other, "use true or false, without quotes")
        }
        note(key, .flag, .bool(value), default: .bool(fallback), about)
        return value
    }

    /// Seconds, which may be a fraction, within `range`.
    mutating func seconds(
        _ key: String, in range: ClosedRange<Double>, default fallback: Double, _ about: String
    ) -> Duration {
        var seconds = fallback
        if let value = member(key) {
            if let number = value.doubleValue, range.contains(number) {
                seconds = number
            } else {
                wrong(key, value, "use seconds from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))")
            }
        }
        note(key, .seconds(range), .number(seconds), default: .number(fallback), about)
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// One of the words of `Choice`; `fallback` when it is missing.
    ///
    /// `meant`: what others call them.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Choice, meant: [String: Choice] = [:], _ about: String
    ) -> Choice where Choice.RawValue == String {
        chosen(key, fallback, meant, about) ?? fallback
    }

    /// One of the words of `Choice`, which has to be there.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, meant: [String: Choice] = [:], _ about: String
    ) -> Choice? where Choice.RawValue == String {
        chosen(key, nil, meant, about)
    }

    private mutating func chosen<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ fallback: Choice?, _ meant: [String: Choice], _ about: String
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let advice = "use \(Self.alternatives(words.map { "\"\($0)\"" }))"
        let found = found(key, advice)
        let choice = found.flatMap { Choice(rawValue: $0.text) }
        if let found, choice == nil {
            let nearest = meant[found.text.lowercased()]?.rawValue ?? Spelling.nearest(to: found.text, among: words)
            let guess = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
            reading.add(
                keyPath(key),
                found.reference.map { "takes from \($0) a value that is none of its words; \(advice)" }
                    ?? "is \"\(found.text)\"; \(advice)\(guess)")
        }
        if fallback == nil, !has(key) { missing(key, advice) }
        let value = choice ?? fallback
        note(
            key, .choice(words), (value?.rawValue).map(JSONValue.string),
            default: (fallback?.rawValue).map(JSONValue.string), isRequired: fallback == nil, from: found, about)
        if key == "type" { type = value?.rawValue }
        return value
    }

    /// A list of texts, at least one; all but the first may be secrets.
    mutating func strings(_ key: String, _ about: String) -> [String] {
        let elements = member(key)?.arrayValue ?? []
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            switch element {
            case .string(let text): texts.append(text)
            case .object(let members):
                guard let found = resolved(members, "\(key)[\(index)]") else { continue }
                texts.append(found.text)
                settle(
                    "\(key)[\(index)]", ConfigurationSetting.struck, isThere: true, from: found.reference,
                    isOpenSecret: found.isOpenToAll)
            default: break
            }
        }
        let isList = elements.allSatisfy { $0.stringValue != nil || $0.objectValue != nil }
        switch member(key) {
        case nil: missing(key, Self.listAdvice)
        case .array([])?: report(key, "is empty; \(Self.listAdvice)")
        case let value? where elements.isEmpty || !isList: wrongKind(key, value, Self.listAdvice)
        default: break
        }
        let shown = elements.enumerated().map { index, element in
            index == 0 && element.stringValue != nil ? element : ConfigurationSetting.struck
        }
        note(key, .texts, .array(shown), isRequired: true, isSecret: true, about)
        return texts
    }

    /// A list of circles, which may be empty; where they are is a secret.
    mutating func circles(
        _ key: String, atMost count: Int, _ about: String
    ) -> [(latitude: Double, longitude: Double, radiusMeters: Double)] {
        var circles: [(latitude: Double, longitude: Double, radiusMeters: Double)] = []
        let elements = member(key)?.arrayValue ?? []
        if let value = member(key), value.arrayValue == nil {
            wrongKind(key, value, "use a list of circles, as \(CircleMember.example)")
        }
        if elements.count > count {
            report(key, "has \(elements.count) circles, and may have \(count); join those that lie side by side")
        }
        for (index, element) in elements.enumerated() {
            let name = "\(key)[\(index)]"
            guard let members = element.objectValue else {
                wrongKind(name, element, "use a circle, as \(CircleMember.example)")
                continue
            }
            var circle = ConfigurationSection(path: keyPath(name), members: members, reading: reading)
            let numbers = CircleMember.all.compactMap { member -> Double? in
                let value = circle.member(member.name)
                if let number = value?.doubleValue, member.range.contains(number) { return number }
                if value == nil { circle.missing(member.name, "use \(member.words)") }
                let form = value?.stringValue == nil ? "" : ", a number without quotes"
                let shown = member.isSecret ? "" : value.flatMap(\.doubleValue).map { "\(Self.plain($0)) " } ?? ""
                if value != nil { circle.report(member.name, "\(shown)cannot be used; use \(member.words)\(form)") }
                return nil
            }
            circle.finish(meant: CircleMember.others)
            if numbers.count == 3 { circles.append((numbers[0], numbers[1], numbers[2])) }
        }
        note(
            key, .circles(atMost: count), .array(elements.map { _ in ConfigurationSetting.struck }),
            default: .array([]), isSecret: true, about)
        return circles
    }

    private static let objectAdvice = "use an object in braces"
    private static let listAdvice = "use a list of texts, as [\"/usr/bin/program\", \"argument\"]"

    /// The members of the object under `key`, whatever their names are; empty when it is missing. They may be secrets.
    mutating func entries(_ key: String) -> [(name: String, value: JSONValue)] {
        switch member(key) {
        case .object(let members)?: return members.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
        case nil: return []
        case let other?:
            wrongKind(key, other, Self.objectAdvice + #", as {"NAME": "value"}"#)
            return []
        }
    }

    /// Notes a problem of this section's own making.
    func report(_ key: String, _ says: String) { reading.add(keyPath(key), says) }

    /// Whether something is wrong with what is under `key` itself: what follows from it is then not told.
    func isRejected(_ key: String) -> Bool { reading.hasProblem(at: keyPath(key)) }

    /// Notes that the time under `key` is shorter than that under `other`, where both can be used.
    func require(_ key: String, _ time: Duration, notBelow other: String, _ least: Duration) {
        guard time < least, !isRejected(key), !isRejected(other) else { return }
        let seconds = [time, least].map { Self.plain($0 / .seconds(1)) }
        report(key, "is \(seconds[0]), shorter than \"\(other)\", which is \(seconds[1]); make it at least as long")
    }

    /// Notes every key that was not read, with the one of `meant` or the nearest that exists and is not there; that one
    /// is then not told to be missing, too.
    func finish(meant: [String: String] = [:]) {
        var owner = "Waypost"
        // A key may belong to another type.
        if known.contains("type"), case .string(let type)? = members?["type"] {
            owner = "\"type\": \"\(ReportedText(type, limit: 60))\""
        }
        for key in (members ?? [:]).keys.sorted() where !known.contains(key) {
            if let name = ConfigurationKey.renamed[keyPath(key)] {
                reading.add(keyPath(key), "has a new name; write \"\(name)\"")
                continue
            }
            // A whole path as one key, or a key of another section, is nobody's misspelling.
            let isElsewhere =
                key.contains(".")
                || ConfigurationKey.meant(by: key).contains {
                    path.isEmpty ? $0.path.contains(".") : $0.name == key && $0.path != path
                }
            let absent = isElsewhere ? [] : known.filter { !has($0) }.sorted()
            let guess =
                meant[key.lowercased()].flatMap { absent.contains($0) ? $0 : nil }
                ?? Spelling.nearest(to: key, among: absent)
            let hint = guess.map { "did you mean \"\($0)\"?" } ?? elsewhere(key) ?? "remove it"
            reading.add(keyPath(key), "is not a key of \(owner); \(hint)")
            if let guess { reading.excuse(keyPath(guess)) }
        }
    }

    /// Where a key of this name belongs: to another type of this section, or into other sections.
    private func elsewhere(_ key: String) -> String? {
        let sections = known.intersection(members?[key]?.objectValue?.keys.map(\.self) ?? [])
        if path.isEmpty, !sections.isEmpty {
            for section in sections { reading.excuse(section) }
            return "move what it holds out of it, one level up"
        }
        if let dot = key.firstIndex(of: "."), ConfigurationKey.all.contains(where: { $0.path == keyPath(key) }) {
            for path in [keyPath(key), keyPath(String(key[..<dot]))] { reading.excuse(path) }
            return "write it as \"\(key[dot...].dropFirst())\" within \"\(key[..<dot])\""
        }
        let words = [key, keyPath(key)].map { $0.lowercased().filter(\.isLetter) }
        let foreign: [(words: Set<String>, advice: String)] = [
            (
                ["logfile", "logpath", "logoutput"],
                "remove it; the log goes to standard error, and so to the journal (journalctl -u waypost)"
            ),
            (
                ["insecure", "skipverify", "insecureskipverify", "verify", "verifytls", "verifyssl", "verifypeer"],
                "remove it; certificates are always verified, and \"caFile\" names authorities of your own"
            ),
            (
                ["proxy", "httpproxy", "httpsproxy", "proxyurl"],
                #"write "proxy": { "url": "http://HOST:PORT" } in "upload" and in "authorization""#
            ),
            (
                known.contains("headers") ? ["apikey"] : [],
                "move it into \"headers\", under the name that the endpoint expects"
            ),
        ]
        if let found = foreign.first(where: { !$0.words.isDisjoint(with: words) }) { return found.advice }
        let types = ConfigurationKey.all.filter { $0.path == keyPath(key) }.compactMap(\.type)
        if !types.isEmpty { return "it is one of \"type\" \(Self.alternatives(types.map { "\"\($0)\"" })); remove it" }
        return ConfigurationKey.paths(meantBy: key).map { "did you mean \($0)?" }
    }

    // MARK: - Texts

    /// A text, from wherever it comes.
    private struct FoundText {
        let text: String
        var reference: ValueReference?
        var isOpenToAll = false
    }

    /// The text under `key`, which is a problem if it is missing and there is no `fallback`.
    private mutating func requiredText(
        _ key: String, default fallback: String?, ifMissing advice: String?,
        shownAs shown: ((String) -> String)? = nil, _ about: String
    ) -> FoundText? {
        if fallback == nil, !has(key) { missing(key, advice ?? "write a text in quotes") }
        return text(key, default: fallback, isRequired: fallback == nil, shownAs: shown, about)
    }

    private mutating func text(
        _ key: String, default fallback: String? = nil, isRequired: Bool = false,
        shownAs shown: ((String) -> String)? = nil, _ about: String
    ) -> FoundText? {
        let advice = "use a text in quotes" + (fallback.map { ", as \"\($0)\"" } ?? "")
        var text = found(key, advice)
        if text?.text.isEmpty == true {
            wrong(key, .string(""), advice)
            text = nil
        }
        note(
            key, .text, (text?.text ?? fallback).map { .string(shown?($0) ?? $0) },
            default: fallback.map(JSONValue.string), isRequired: isRequired, isSecret: shown != nil, from: text, about)
        return text ?? fallback.map { FoundText(text: $0) }
    }

    /// The text under `key`, empty or not; anything else is a problem.
    private mutating func found(_ key: String, _ advice: String) -> FoundText? {
        switch member(key) {
        case .string(let text)?: return FoundText(text: text)
        case .object(let members)?: return resolved(members, key)
        case nil: return nil
        case let other?:
            wrong(key, other, advice)
            return nil
        }
    }

    private func resolved(_ members: [String: JSONValue], _ key: String) -> FoundText? {
        guard let reference = ValueReference(members) else {
            reading.add(keyPath(key), "is an object that cannot be used; use a text, \(ValueReference.forms)")
            return nil
        }
        do throws(ValueReference.Problem) {
            let found = try reading.value(of: reference)
            return FoundText(text: found.text, reference: reference, isOpenToAll: found.isOpenToAll)
        } catch {
            reading.add(keyPath(key), "takes its value from \(reference), which \(error)")
            return nil
        }
    }

    // MARK: - What is told of a key

    /// Tells that `key` is read, and how.
    func declare(
        _ key: String, _ form: ConfigurationKey.Form, default fallback: JSONValue? = nil, isRequired: Bool = false,
        isSecret: Bool = false, _ about: String
    ) {
        reading.declare(
            ConfigurationKey(
                path: keyPath(key), type: type, form: form, isRequired: isRequired, fallback: fallback,
                isSecret: isSecret, about: about))
    }

    /// Tells what is in force under `key`, where it is there at all; what is a credential is a secret.
    func settle(
        _ key: String, _ value: JSONValue?, isThere: Bool, from reference: ValueReference? = nil,
        isOpenSecret: Bool = false
    ) {
        var shown = value
        if case .credential? = reference { shown = ConfigurationSetting.struck }
        reading.settle(keyPath(key), shown, isThere: isThere, reference, isOpenSecret: isOpenSecret)
    }

    private func note(
        _ key: String, _ form: ConfigurationKey.Form, _ value: JSONValue?, default fallback: JSONValue? = nil,
        isRequired: Bool = false, isSecret: Bool = false, from found: FoundText? = nil, _ about: String
    ) {
        declare(key, form, default: fallback, isRequired: isRequired, isSecret: isSecret, about)
        settle(
            key, value, isThere: has(key), from: found?.reference,
            isOpenSecret: isSecret && found?.isOpenToAll == true)
    }

    // MARK: - Problems

    private func sub(_ key: String, _ members: [String: JSONValue]?) -> ConfigurationSection {
        var section = ConfigurationSection(path: keyPath(key), members: members, reading: reading)
        section.type = type
        return section
    }

    private func missing(_ key: String, _ advice: String) {
        if members != nil { reading.add(keyPath(key), "is missing; \(advice)", isAbsence: true) }
    }

    /// Without the value: where a section or a list belongs it may be a secret.
    private func wrongKind(_ key: String, _ value: JSONValue, _ advice: String) {
        reading.add(keyPath(key), "is \(value.kind); \(advice)")
    }

    /// Notes that `value` cannot be used, and what to do.
    func wrong(_ key: String, _ value: JSONValue, _ advice: String) {
        let shown: String =
            switch value {
            case .integer(let number): "\(number)"
            case .number(let number): "\(number)"
            case .bool(let flag): "\(flag)"
            case .string(let text): text.isEmpty ? "empty" : "\"\(ReportedText(text, limit: 60))\""
            case .null, .array, .object: value.kind
            }
        let hint: String =
            switch value {
            case .string(let text) where [text, advice].allSatisfy({ $0.contains(where: \.isNumber) }):
                Double(text) == nil
                    ? "; a number has neither quotes nor a unit\(Self.unit(of: key))" : "; a number has no quotes"
            case .object(let members) where ValueReference(members) != nil: "; only a text can come from elsewhere"
            default: ""
            }
        reading.add(keyPath(key), "is \(shown); \(advice)\(hint)")
    }

    /// What a number under `key` counts, where its name says so.
    private static func unit(of key: String) -> String {
        ["Seconds", "Megabytes", "Days", "Meters"].first(where: key.hasSuffix)
            .map { "; this one counts \($0.lowercased())" } ?? ""
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
