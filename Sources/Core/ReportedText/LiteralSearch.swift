/// Looks for a literal text, byte for byte: a quotation mark is found beneath a combining accent, too, where a
/// comparison of characters would miss it, and a binary with these alone has no engine of regular expressions in it.
/// Inlinable, for a search that is not specialized for its text looks up types at each byte.
extension Collection<UInt8> {
    /// Where `literal` stands first.
    @inlinable
    package func firstRange(of literal: String) -> Range<Index>? {
        indices.first { self[$0...].starts(with: literal.utf8) }.map { $0..<index($0, offsetBy: literal.utf8.count) }
    }
}

extension StringProtocol {
    /// Where `literal` stands first.
    @inlinable
    package func firstRange(of literal: String) -> Range<String.Index>? { utf8.firstRange(of: literal) }

    @inlinable
    package func contains(_ literal: String) -> Bool { firstRange(of: literal) != nil }

    @inlinable
    package func replacing(_ literal: String, with replacement: String) -> String {
        var result = ""
        var rest = self[...]
        while !literal.isEmpty, let found = rest.firstRange(of: literal) {
            result += rest[..<found.lowerBound] + replacement
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension BidirectionalCollection {
    /// What is left without the blank elements at either end.
    @inlinable
    package func trimming(_ isBlank: (Element) -> Bool) -> SubSequence {
        let start = drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }
}
