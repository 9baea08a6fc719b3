package import ReportedText

/// What a decoder has met so far: the account behind summaries and warnings.
package struct DecoderStatistics: Sendable {
    /// How often something came, and where it came first.
    package struct Occurrences: Sendable, Hashable {
        package fileprivate(set) var count = 0
        /// Counts line feeds from 1; 0 while `count` is 0.
        package fileprivate(set) var firstLine = 0

        fileprivate mutating func add(line: Int) {
            if count == 0 { firstLine = line }
            count += 1
        }
    }

    package internal(set) var bytes = 0
    /// Line feeds so far.
    package internal(set) var lines = 0
    /// Bytes in UBX and RTCM 3 frames.
    package internal(set) var binaryBytes = 0
    /// Distinct times of day that gave or could have given a fix.
    package internal(set) var epochs = 0
    package internal(set) var fixes = 0
    /// Epochs whose flags say that there is no position, or contradict each other.
    package internal(set) var voidEpochs = 0
    /// Epochs with the time of one just before: a frozen clock.
    package internal(set) var repeatedEpochs = 0
    /// Fixes that wait for a first date, or waited in vain.
    package internal(set) var undatedFixes = 0

    var addresses = AddressCounts()
    var receiverBanners = ReceiverBanners()
    private var refused = InlineArray<7, Occurrences>(repeating: Occurrences())
    private var warned = InlineArray<16, Occurrences>(repeating: Occurrences())

    init() {}

    /// Sentences with a right checksum, by address: talker and type, cut to eight bytes.
    package var sentencesByAddress: [(address: String, count: Int)] { addresses.sorted }
    /// Sentences with a right checksum.
    package var sentences: Int { addresses.total }
    /// Whether a sentence with a right checksum has come that states a position when its receiver has one.
    package var hasPositionSentences: Bool {
        addresses.hasAny { SentenceType(address: $0, length: $1).statesPosition }
    }
    /// What the receiver said of its make and firmware, if it did: the first few texts.
    package var banners: [ReportedText] { receiverBanners.all }
    package func refusals(_ reason: SentenceRefusal) -> Occurrences { refused[reason.rawValue] }
    package func warnings(_ warning: ReceiverWarning) -> Occurrences { warned[warning.rawValue] }

    /// Counts a refusal on the line that is not complete yet.
    mutating func add(_ reason: SentenceRefusal) { refused[reason.rawValue].add(line: lines + 1) }

    /// Counts a warning on the line that is not complete yet.
    mutating func add(_ warning: ReceiverWarning) { warned[warning.rawValue].add(line: lines + 1) }
}

/// Sentences counted by address (talker and type), in a table of fixed size.
struct AddressCounts: Sendable {
    private struct Entry {
        var address: UInt64 = 0
        var type = SentenceType.other
    }

    private var entries = [Entry](repeating: Entry(), count: Self.capacity)
    /// How often each has come; 0 marks an entry that is free. They stand here themselves, for an array would be asked
    /// each time whether it is shared.
    private var counts = InlineArray<256, Int>(repeating: 0)
    /// Of all addresses, those included that found no more room.
    private(set) var total = 0

    /// A power of two; a receiver uses a dozen addresses, a log of many perhaps a hundred.
    private static let capacity = 256
    /// Places looked at for one address.
    private static let reach = 8

    /// Counts one sentence, and gives its type; `address` holds up to eight bytes of `length`, first byte lowest.
    @inline(__always)
    mutating func add(_ address: UInt64, length: Int) -> SentenceType {
        total += 1
        let place = Self.place(of: address)
        guard entries[place].address == address else { return addElsewhere(address, length: length) }
        counts[place] += 1
        return entries[place].type
    }

    /// Counts a sentence that is the first of its address, or whose place is another's.
    @inline(never)
    private mutating func addElsewhere(_ address: UInt64, length: Int) -> SentenceType {
        // No address of more than eight bytes is of a type, so that those that are cut alike are of one.
        let type = SentenceType(address: address, length: length)
        var place = Self.place(of: address)
        for _ in 0..<Self.reach {
            if counts[place] == 0 { entries[place] = Entry(address: address, type: type) }
            if entries[place].address == address {
                counts[place] += 1
                return type
            }
            place = (place + 1) % Self.capacity
        }
        return type
    }

    @inline(__always)
    private static func place(of address: UInt64) -> Int {
        Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 56)
    }

    /// Addresses with their counts, in alphabetical order; addresses of more than eight bytes are cut.
    var sorted: [(address: String, count: Int)] {
        var used: [(address: String, count: Int)] = []
        for place in counts.indices where counts[place] > 0 {
            used.append((Self.text(entries[place].address), counts[place]))
        }
        return used.sorted { $0.address < $1.address }
    }

    /// Whether one of the addresses is as `isWanted` says, which is given its bytes and how many they are.
    func hasAny(_ isWanted: (_ address: UInt64, _ length: Int) -> Bool) -> Bool {
        for place in counts.indices where counts[place] > 0 {
            let address = entries[place].address
            if isWanted(address, 8 - address.leadingZeroBitCount / 8) { return true }
        }
        return false
    }

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
