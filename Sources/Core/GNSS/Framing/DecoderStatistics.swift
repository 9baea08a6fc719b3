package import ReportedText

/// The counts of decoded and rejected data, for summaries and warnings.
package struct DecoderStatistics: Sendable {
    /// A number of occurrences, with the line of the first one.
    package struct Occurrences: Sendable, Hashable {
        package fileprivate(set) var count = 0
        /// The number of the line with the first occurrence, counted from 1; 0 while `count` is 0.
        package fileprivate(set) var firstLine = 0

        fileprivate mutating func add(line: Int) {
            if count == 0 { firstLine = line }
            count += 1
        }
    }

    package internal(set) var bytes = 0
    /// The number of complete lines. In a log without line feeds, lines end with carriage returns.
    package var lines: Int { lineFeeds > 0 ? lineFeeds : carriageReturns }
    var lineFeeds = 0
    /// The number of carriage returns, excluding those in a CR LF that directly follows a sentence.
    var carriageReturns = 0
    /// The number of bytes in UBX and RTCM 3 frames.
    package internal(set) var binaryBytes = 0
    package internal(set) var epochs = EpochCounts()

    private var fieldFaults: [(fault: FieldFault, occurrences: Occurrences)] = []
    /// The maximum number of distinct field faults that are counted separately. Known receivers cause fewer. Further
    /// faults are counted only as `rejections`.
    private static let maximumFieldFaults = 32
    var addresses = AddressCounts()
    var receiverBanners = ReceiverBanners()
    private var rejectionOccurrences = InlineArray<7, Occurrences>(repeating: Occurrences())
    private var warningOccurrences = InlineArray<13, Occurrences>(repeating: Occurrences())

    init() {}

    /// The number of sentences with a correct checksum, by address. An address is talker and type, such as `GPRMC`, cut
    /// to eight bytes.
    package var sentencesByAddress: [(address: String, count: Int)] { addresses.sorted }
    /// The number of sentences with a correct checksum.
    package var sentences: Int { addresses.total }
    /// The number of sentences of a type that contains a position, including sentences whose position fields are empty.
    package internal(set) var positionSentences = 0
    /// The first few messages in which the receiver reported its make and firmware.
    package var banners: [ReportedText] { receiverBanners.all }
    package func rejections(_ reason: SentenceRejection) -> Occurrences { rejectionOccurrences[reason.rawValue] }
    package func warnings(_ warning: ReceiverWarning) -> Occurrences { warningOccurrences[warning.rawValue] }

    /// Counts a faulty field on the current line.
    mutating func add(_ fault: FieldFault) {
        if let index = fieldFaults.firstIndex(where: { $0.fault == fault }) {
            fieldFaults[index].occurrences.add(line: lines + 1)
        } else if fieldFaults.count < Self.maximumFieldFaults {
            fieldFaults.append((fault, Occurrences()))
            fieldFaults[fieldFaults.count - 1].occurrences.add(line: lines + 1)
        }
    }

    /// The fields that caused rejections of sentences, in order of first occurrence.
    package var rejectedFields: [FieldFaultCount] { fieldFaultCounts { $0.isRejection } }

    /// The field that most often caused the rejection of a sentence with a position; `nil` if no such sentence was
    /// rejected because of a field.
    package var mostFrequentRejection: FieldFaultCount? {
        fieldFaultCounts { $0.isRejection && $0.containsPosition }.max { $0.occurrences.count < $1.occurrences.count }
    }

    /// The number of sentences with a position that were rejected because of a field.
    package var rejectedPositions: Int {
        fieldFaults.reduce(0) { $0 + ($1.fault.isRejection && $1.fault.containsPosition ? $1.occurrences.count : 0) }
    }

    /// The faulty fields that were ignored while the rest of their sentence was used, in order of first occurrence.
    package var omittedFields: [FieldFaultCount] { fieldFaultCounts { !$0.isRejection } }

    /// Returns the counts of the field faults that satisfy `isIncluded`. Faults in fields of the same name are added up
    /// across sentence types.
    private func fieldFaultCounts(where isIncluded: (FieldFault) -> Bool) -> [FieldFaultCount] {
        var counts: [FieldFaultCount] = []
        for (fault, occurrences) in fieldFaults where isIncluded(fault) {
            let name = fault.name
            if let index = counts.firstIndex(where: { $0.name == name && $0.isOutOfRange == fault.isOutOfRange }) {
                counts[index].occurrences.count += occurrences.count
            } else {
                counts.append(FieldFaultCount(name: name, isOutOfRange: fault.isOutOfRange, occurrences: occurrences))
            }
        }
        return counts
    }

    /// Counts a rejection on the current line.
    mutating func add(_ reason: SentenceRejection) { rejectionOccurrences[reason.rawValue].add(line: lines + 1) }

    /// Counts a warning on the current line.
    mutating func add(_ warning: ReceiverWarning) { warningOccurrences[warning.rawValue].add(line: lines + 1) }
}

/// The number of epochs in a stream, by outcome.
package struct EpochCounts: Sendable {
    /// The number of epochs with a time of day, whatever their outcome.
    package internal(set) var all = 0
    package internal(set) var fixes = 0
    /// The number of epochs with a flag that says that there is no position, even if another flag says that there is
    /// one.
    package internal(set) var void = 0
    /// The number of epochs with the time of a recent epoch, for example because the receiver's clock is frozen.
    package internal(set) var repeated = 0
    /// The number of fixes that were dropped because no date was known. In `NMEADecoder.statistics`, this includes
    /// fixes that still wait for a date.
    package internal(set) var undated = 0
}

/// The number of faults in a field, with the line of the first occurrence.
package struct FieldFaultCount: Sendable, Hashable, CustomStringConvertible {
    /// The field's name, such as `longitude`.
    package let name: String
    package let isOutOfRange: Bool
    package fileprivate(set) var occurrences: DecoderStatistics.Occurrences

    /// The fault, such as `longitude out of range`.
    package var description: String { "\(name) \(isOutOfRange ? "out of range" : "can't be read")" }
}

/// The number of sentences by address (talker and type), in a hash table of fixed size.
struct AddressCounts: Sendable {
    private struct Entry {
        var address: UInt64 = 0
        var type = SentenceType.other
    }

    private var entries = [Entry](repeating: Entry(), count: Self.capacity)
    /// The number of sentences in each entry; 0 means that the entry is free. An inline array is used because every
    /// write to an `Array` checks whether its storage is shared.
    private var counts = InlineArray<256, Int>(repeating: 0)
    /// The number of all sentences, including those whose address found no free entry.
    private(set) var total = 0

    /// The number of entries, which must be a power of two. One receiver uses a dozen addresses; a log of many
    /// receivers may contain a hundred.
    private static let capacity = 256
    /// The maximum number of entries that are tried for one address.
    private static let maximumProbes = 8

    /// Counts a sentence and returns its type. `address` contains the first eight of the address's `length` bytes, with
    /// the first byte in the lowest bits.
    @inline(__always)
    mutating func add(_ address: UInt64, length: Int) -> SentenceType {
        total += 1
        let index = Self.index(of: address)
        guard entries[index].address == address else { return addByProbing(address, length: length) }
        counts[index] += 1
        return entries[index].type
    }

    /// Counts a sentence whose address is new, or whose first entry belongs to another address. Returns the sentence's
    /// type.
    @inline(never)
    private mutating func addByProbing(_ address: UInt64, length: Int) -> SentenceType {
        // Two addresses that are equal after being cut have the same type, because no known type is longer than eight
        // bytes.
        let type = SentenceType(address: address, length: length)
        var index = Self.index(of: address)
        for _ in 0..<Self.maximumProbes {
            if counts[index] == 0 { entries[index] = Entry(address: address, type: type) }
            if entries[index].address == address {
                counts[index] += 1
                return type
            }
            index = (index + 1) % Self.capacity
        }
        return type
    }

    @inline(__always)
    private static func index(of address: UInt64) -> Int {
        Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 56)
    }

    /// The addresses and their counts, in alphabetical order. Addresses of more than eight bytes are cut.
    var sorted: [(address: String, count: Int)] {
        var used: [(address: String, count: Int)] = []
        for index in counts.indices where counts[index] > 0 {
            used.append((Self.text(of: entries[index].address), counts[index]))
        }
        return used.sorted { $0.address < $1.address }
    }

    private static func text(of address: UInt64) -> String {
        var text = ""
        var rest = address
        while rest != 0 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: rest)))
            rest >>= 8
        }
        return text
    }
}
