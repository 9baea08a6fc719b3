/// Searches for a literal text, byte by byte. Unlike a comparison of characters, it finds a quotation mark under a
/// combining accent, and it doesn't link the engine of regular expressions into the binary.
///
/// Inlinable, because an unspecialized search would look up types at each byte.
extension Collection<UInt8> {
    /// Returns the first occurrence of `literal`.
    @inlinable
    package func firstRange(of literal: String) -> Range<Index>? {
        indices.first { self[$0...].starts(with: literal.utf8) }.map { $0..<index($0, offsetBy: literal.utf8.count) }
    }
}

extension StringProtocol {
    /// Returns the first occurrence of `literal`.
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
    /// Returns the elements without blank ones at either end.
    @inlinable
    package func trimming(_ isBlank: (Element) -> Bool) -> SubSequence {
        let start = drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }
}
