/// Functions that search for a literal text byte by byte. Unlike a comparison of characters, they find a quotation mark
/// that is followed by a combining accent. They also don't link the regular expression engine into the binary.
///
/// The functions are inlinable, because without specialisation they would look up types for each byte.
extension Collection<UInt8> {
    /// Returns the range of the first occurrence of `literal`; `nil` if there is none.
    @inlinable
    package func firstRange(of literal: String) -> Range<Index>? {
        indices.first { self[$0...].starts(with: literal.utf8) }.map { $0..<index($0, offsetBy: literal.utf8.count) }
    }
}

extension StringProtocol {
    /// Returns the range of the first occurrence of `literal`; `nil` if there is none.
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
    /// Returns the elements without the blank ones at the beginning and at the end.
    @inlinable
    package func trimming(_ isBlank: (Element) -> Bool) -> SubSequence {
        let start = drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }
}
