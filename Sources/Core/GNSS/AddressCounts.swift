/// Sentences counted by address (talker and type), in a table of fixed size.
struct AddressCounts: Sendable {
    private struct Entry {
        var address: UInt64 = 0
        var count = 0
    }

    private var entries = [Entry](repeating: Entry(), count: Self.capacity)
    /// Sentences whose address found no more room.
    private(set) var others = 0

    /// A power of two; a receiver uses a dozen addresses, a log of many perhaps a hundred.
    private static let capacity = 256
    /// Places looked at for one address.
    private static let reach = 8

    /// Counts one sentence; `address` holds up to eight bytes, first byte lowest.
    @inline(__always)
    mutating func add(_ address: UInt64) {
        var place = Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 56)
        for _ in 0..<Self.reach {
            if entries[place].address == address || entries[place].count == 0 {
                entries[place].address = address
                entries[place].count += 1
                return
            }
            place = (place + 1) & (Self.capacity - 1)
        }
        others += 1
    }

    /// Addresses with their counts, in alphabetical order; addresses of more than eight bytes are cut.
    var sorted: [(address: String, count: Int)] {
        entries.filter { $0.count > 0 }.map { (Self.text($0.address), $0.count) }.sorted { $0.0 < $1.0 }
    }

    var total: Int { entries.reduce(others) { $0 + $1.count } }

    private static func text(_ address: UInt64) -> String {
        var text = ""
        var rest = address
        while rest != 0 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: rest)))
            rest >>= 8
        }
        return text
    }
}
