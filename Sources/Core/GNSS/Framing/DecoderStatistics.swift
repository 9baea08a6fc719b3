package import ReportedText

/// What a decoder has met so far: the account behind summaries and warnings.
package struct DecoderStatistics: Sendable {
    /// How often something came, and where it came first.
    package struct Occurrences: Sendable, Hashable {
        package fileprivate(set) var count = 0
        /// Counted from 1; 0 while `count` is 0.
        package fileprivate(set) var firstLine = 0

        fileprivate mutating func add(line: Int) {
            if count == 0 { firstLine = line }
            count += 1
        }
    }

    package internal(set) var bytes = 0
    /// Lines that have ended. A log without line feeds has lines that end with carriage returns.
    package var lines: Int { lineFeeds > 0 ? lineFeeds : returns }
    var lineFeeds = 0
    /// Carriage returns that were looked at one by one: not those in front of a line feed after a sentence.
    var returns = 0
    /// Bytes in UBX and RTCM 3 frames.
    package internal(set) var binaryBytes = 0
    package internal(set) var epochs = EpochCounts()

    private var fieldFaults: [(fault: FieldFault, found: Occurrences)] = []
    /// More kinds than a receiver has; further ones count for `refusals` alone.
    private static let maximumFieldFaults = 32
    var addresses = AddressCounts()
    var receiverBanners = ReceiverBanners()
    private var refused = InlineArray<7, Occurrences>(repeating: Occurrences())
    private var warned = InlineArray<13, Occurrences>(repeating: Occurrences())

    init() {}

    /// Sentences with a right checksum, by address: talker and type, cut to eight bytes.
    package var sentencesByAddress: [(address: String, count: Int)] { addresses.sorted }
    /// Sentences with a right checksum.
    package var sentences: Int { addresses.total }
    /// Whether a sentence with a right checksum has come that states a position when its receiver has one.
    package var hasPositionSentences: Bool { positionSentences > 0 }
    /// What the receiver said of its make and firmware, if it did: the first few texts.
    package var banners: [ReportedText] { receiverBanners.all }
    package func refusals(_ reason: SentenceRefusal) -> Occurrences { refused[reason.rawValue] }
    package func warnings(_ warning: ReceiverWarning) -> Occurrences { warned[warning.rawValue] }

    /// Counts a field that could not be read, on the line that is not complete yet.
    mutating func add(_ fault: FieldFault) {
        if let index = fieldFaults.firstIndex(where: { $0.fault == fault }) {
            fieldFaults[index].found.add(line: lines + 1)
        } else if fieldFaults.count < Self.maximumFieldFaults {
            fieldFaults.append((fault, Occurrences()))
            fieldFaults[fieldFaults.count - 1].found.add(line: lines + 1)
        }
    }

    /// Fields for which sentences were rejected, in the order in which they came.
    package var rejections: [FieldFaultCount] { counts { $0.isRejection } }

    /// The field for which most sentences with a position were rejected; `nil` if none were.
    package var mostFrequentRejection: FieldFaultCount? {
        counts { $0.isRejection && $0.statesPosition }.max { $0.found.count < $1.found.count }
    }

    /// Sentences of the types that state a position that were rejected for a field.
    package var rejectedPositions: Int {
        fieldFaults.reduce(0) { $0 + ($1.fault.isRejection && $1.fault.statesPosition ? $1.found.count : 0) }
    }

    /// Fields that were left out of sentences whose other fields were used, in the order in which they came.
    package var omissions: [FieldFaultCount] { counts { !$0.isRejection } }

    /// Field faults, those of one field in several sentence types together.
    private func counts(where isWanted: (FieldFault) -> Bool) -> [FieldFaultCount] {
        var counts: [FieldFaultCount] = []
        for (fault, found) in fieldFaults where isWanted(fault) {
            let name = fault.name
            if let index = counts.firstIndex(where: { $0.name == name && $0.isOutOfRange == fault.isOutOfRange }) {
                counts[index].found.count += found.count
            } else {
                counts.append(FieldFaultCount(name: name, isOutOfRange: fault.isOutOfRange, found: found))
            }
        }
        return counts
    }

    /// Sentences that state a position when their receiver has one.
    package var positionSentences: Int { addresses.total { SentenceType(address: $0, length: $1).statesPosition } }

    /// Counts a refusal on the line that is not complete yet.
    mutating func add(_ reason: SentenceRefusal) { refused[reason.rawValue].add(line: lines + 1) }

    /// Counts a warning on the line that is not complete yet.
    mutating func add(_ warning: ReceiverWarning) { warned[warning.rawValue].add(line: lines + 1) }
}

/// What the epochs of a stream came to.
package struct EpochCounts: Sendable {
    /// Distinct times of day that gave or could have given a fix.
    package internal(set) var all = 0
    package internal(set) var fixes = 0
    /// Epochs whose flags say that there is no position, or contradict each other.
    package internal(set) var void = 0
    /// Epochs with the time of one just before: a frozen clock.
    package internal(set) var repeated = 0
    /// Fixes that were dropped because no date came; in `NMEADecoder.statistics` also those that wait for one.
    package internal(set) var undated = 0
}

/// How often fields of one name could not be read, and where first.
package struct FieldFaultCount: Sendable, Hashable, CustomStringConvertible {
    /// The field's name, such as `longitude`.
    package let name: String
    package let isOutOfRange: Bool
    package fileprivate(set) var found: DecoderStatistics.Occurrences

    /// Such as `longitude out of range`.
    package var description: String { "\(name) \(isOutOfRange ? "out of range" : "can't be read")" }
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

    /// Sentences of the addresses for which `isWanted`, given the address's bytes and their number, returns `true`.
    func total(where isWanted: (_ address: UInt64, _ length: Int) -> Bool) -> Int {
        var total = 0
        for place in counts.indices where counts[place] > 0 {
            let address = entries[place].address
            if isWanted(address, 8 - address.leadingZeroBitCount / 8) { total += counts[place] }
        }
        return total
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
