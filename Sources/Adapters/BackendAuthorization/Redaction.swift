/// Strikes out of a text from outside what may not be shown: the secrets that are known, and what looks like one.
///
/// A word counts as a secret when it has what JSON Web Tokens begin with (`eyJ`), when it is longer than 40 characters,
/// or when it has 20 characters or more, small letters among them and capitals or digits. Words end at white space and
/// punctuation other than base64's. A slash is base64's and paths', and paths should stay readable: what holds one is
/// a secret as a whole where it has 20 characters or more, all of them base64's, with small letters, capitals and
/// digits; otherwise its parts are looked at.
struct Redaction: Sendable {
    /// Shorter ones would strike out half of any text, and are none.
    private static let shortestSecret = 4
    private let secrets: [String]

    /// `secrets` are struck out wherever they stand.
    init(_ secrets: [String] = []) {
        self.secrets = secrets.filter { $0.utf8.count >= Self.shortestSecret }.sorted { $0.utf8.count > $1.utf8.count }
    }

    /// `text` with `…` in place of each secret.
    func applied(to text: some StringProtocol) -> String {
        let known = secrets.reduce(String(text)) { $0.replacing($1, with: "…") }
        var result = ""
        var word = ""
        for character in known {
            if Self.isPartOfWord(character) {
                word.append(character)
            } else {
                result += Self.shownWithSlashes(word)
                result.append(character)
                word = ""
            }
        }
        return result + Self.shownWithSlashes(word)
    }

    private static func isPartOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "-_+=/".contains(character)
    }

    private static func shownWithSlashes(_ word: String) -> String {
        let isRandom =
            word.count >= 20 && word.contains(where: \.isNumber) && word.contains(where: \.isUppercase)
            && word.contains(where: \.isLowercase) && !word.contains { "-_".contains($0) }
        if isRandom { return word.hasPrefix("/") ? "/…" : "…" }
        return word.split(separator: "/", omittingEmptySubsequences: false).map { shown(String($0)) }
            .joined(separator: "/")
    }

    private static func shown(_ word: String) -> String {
        let isToken = word.contains("eyJ") && word.count > 6
        let isMixed = word.contains(where: \.isNumber) || word.contains(where: \.isUppercase)
        let isRandom = word.count >= 20 && isMixed && word.contains { $0.isLetter && !$0.isUppercase }
        return isToken || isRandom || word.count > 40 ? "…" : word
    }
}
