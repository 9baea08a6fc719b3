extension String {
    /// Without ASCII white space at either end.
    func trimmingWhitespace() -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = utf8.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return String(Substring(start[..<end]))
    }
}
