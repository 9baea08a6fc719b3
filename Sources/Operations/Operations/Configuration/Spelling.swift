/// A search for the word that was probably intended by a misspelt word.
package enum Spelling {
    /// Returns the candidate that is most similar to `word`. If none is similar enough, returns the only candidate that
    /// `word` abbreviates or extends; `nil` if there isn't exactly one.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let nearest = candidates.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let nearest {
            let length = min(word.count, nearest.word.count)
            // Short words may differ in one letter only, because otherwise unrelated words would match.
            if nearest.distance <= (length > 3 ? length / 3 + 1 : 1) { return nearest.word }
        }
        let related = candidates.filter { candidate in
            let one = candidate.lowercased()
            let other = word.lowercased()
            return one.count > 2 && other.count > 2 && (one.hasPrefix(other) || other.hasPrefix(one))
        }
        return related.count == 1 ? related.first : nil
    }

    /// Returns the minimum number of edits that turn one word into the other. An edit inserts, deletes or replaces a
    /// letter, or swaps two neighbours.
    package static func distance(_ one: String, _ other: String) -> Int {
        let first = Array(one)
        let second = Array(other)
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
