/// Where and how much of a run is kept, so that a day on the road can be played again at the desk.
package struct FlightSettings: Sendable {
    /// Made when it is missing, for its owner only.
    package var folder: String
    /// The two files of a number are closed, and the next ones begun, before they hold more than this together.
    package var segmentBytes: Int
    /// Only the newest so many numbers are kept.
    package var segments: Int

    package init(folder: String, segmentBytes: Int = 4 << 20, segments: Int = 8) {
        (self.folder, self.segmentBytes, self.segments) = (folder, segmentBytes, max(1, segments))
    }

    /// What waits for the disk at most, in bytes; what comes while it is full is counted as lost.
    static let longestBacklog = 1 << 20
    /// A power cut costs the last so much of a recording.
    static let flushInterval = Duration.seconds(5)
    /// Reads this close to each other are one entry, until a fix was made of them.
    static let readWindow = 250

    static func receiverFile(_ number: Int) -> String { "receiver-\(padded(number)).nmea" }
    static func flightFile(_ number: Int) -> String { "flight-\(padded(number)).jsonl" }

    /// Far more than any run makes, and far from where numbers end.
    private static let numbers = 1...999_999_999

    /// The number of a file of either kind; `nil` for any other name.
    static func number(of name: String) -> Int? {
        for (front, end) in [("receiver-", ".nmea"), ("flight-", ".jsonl")]
        where name.hasPrefix(front) && name.hasSuffix(end) {
            return Int(name.dropFirst(front.count).dropLast(end.count)).flatMap { numbers.contains($0) ? $0 : nil }
        }
        return nil
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}
