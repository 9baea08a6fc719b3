import ReportedText

/// What a receiver says of its make and firmware when it starts: the texts of a few rare sentences.
struct ReceiverBanners: Sendable {
    /// The first few distinct ones.
    private var texts: [[UInt8]] = []

    private static let capacity = 8
    private static let longest = 80
    /// Makers' own sentences that state a version, by the first eight bytes of their address.
    private static let addresses: [UInt64] = [
        "PMTK011", "PMTK705", "PSRFTXT", "PGRMT", "PQTMVERN", "PSTMVER", "PDTINFO", "PAIR021", "PMGNVER",
    ].map { (address: String) in
        address.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The texts, in the order in which they came.
    var all: [ReportedText] {
        texts.map { text in
            ReportedText(
                bytes: text.split { $0 == UInt8(ascii: ",") }.map { field in
                    field.split(separator: UInt8(ascii: " ")).joined(separator: " ".utf8)
                }.joined(separator: ", ".utf8))
        }
    }

    /// Whether the sentence of that address states a version; TXT is not among them, for it may say anything.
    @inline(__always)
    static func states(_ address: UInt64) -> Bool {
        UInt8(truncatingIfNeeded: address) == UInt8(ascii: "P") && addresses.contains(address)
    }

    /// Notes the fields from `start` to `end`, unless they are known or say nothing of the receiver itself.
    mutating func note(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) {
        guard texts.count < Self.capacity, start < end else { return }
        let text = unsafe UnsafeBufferPointer(rebasing: bytes[start..<min(end, start + Self.longest)])
        let isKnown = texts.contains { known in
            known.count == text.count && known.indices.allSatisfy { unsafe known[$0] == text[$0] }
        }
        guard !isKnown, unsafe Self.isTelling(text) else { return }
        unsafe texts.append(Array(text))
    }

    /// Whether there are words in it, and not those of antenna supervisor, licence or output buffer.
    private static func isTelling(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for start in ["ANTS", "LIC", "txbuf", "Resetting", "$"] as [StaticString] {
            let isStart = start.withUTF8Buffer { word in
                text.count >= word.count && word.indices.allSatisfy { unsafe text[$0] == word[$0] }
            }
            if isStart { return false }
        }
        var (letters, hasWord, hasMore) = (0, false, false)
        for index in text.indices {
            let isLetter = unsafe (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[index] | 0x20)
            letters = isLetter ? letters + 1 : 0
            hasWord = hasWord || letters == 2
            hasMore = hasMore || !isLetter
        }
        return hasWord && hasMore
    }
}
