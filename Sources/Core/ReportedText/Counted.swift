/// Counts as a person reads them, the same wherever one is reported.
extension BinaryInteger {
    /// `1 fix`, `2 fixes`, `12,345 fixes`; the plural is `noun` with an s unless given.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }

    /// `1,234`, `-1,234,567`.
    package var grouped: String {
        var text = String(magnitude)
        var end = text.utf8.count - 3
        while end > 0 {
            text.insert(",", at: text.utf8.index(text.startIndex, offsetBy: end))
            end -= 3
        }
        return self < 0 ? "-" + text : text
    }
}
