package import ReportedText

/// What a decoder has met so far: the account behind summaries and warnings.
package struct DecoderStatistics: Sendable {
    /// How often something came, and where it came first.
    package struct Occurrences: Sendable, Hashable {
        package fileprivate(set) var count = 0
        /// Counts line feeds from 1; 0 while `count` is 0.
        package fileprivate(set) var firstLine = 0
        /// Counts bytes from 0.
        package fileprivate(set) var firstByte = 0

        fileprivate mutating func add(line: Int, byte: Int) {
            if count == 0 { (firstLine, firstByte) = (line, byte) }
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
    private var warned = InlineArray<9, Occurrences>(repeating: Occurrences())

    init() {}

    /// Sentences with a right checksum, by address: talker and type, cut to eight bytes.
    package var sentencesByAddress: [(address: String, count: Int)] { addresses.sorted }
    /// Sentences with a right checksum.
    package var sentences: Int { addresses.total }
    /// What the receiver said of its make and firmware, if it did: the first few texts.
    package var banners: [ReportedText] { receiverBanners.all }
    package func refusals(_ reason: SentenceRefusal) -> Occurrences { refused[reason.rawValue] }
    package func warnings(_ warning: ReceiverWarning) -> Occurrences { warned[warning.rawValue] }

    mutating func add(_ reason: SentenceRefusal, line: Int, byte: Int) {
        refused[reason.rawValue].add(line: line, byte: byte)
    }

    mutating func add(_ warning: ReceiverWarning, line: Int, byte: Int) {
        warned[warning.rawValue].add(line: line, byte: byte)
    }
}
