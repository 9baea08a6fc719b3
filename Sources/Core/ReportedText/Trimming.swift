extension BidirectionalCollection {
    /// What is left without the blank elements at either end.
    package func trimming(_ isBlank: (Element) -> Bool) -> SubSequence {
        let start = drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }
}
