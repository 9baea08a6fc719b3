/// Where a sentence stands in its log.
struct SentencePlace: Hashable {
    /// Counted by line feeds, from 1.
    let line: Int
    /// Which of the line's sentences, from 0.
    let ordinal: Int
    /// Talker and type, as `GPRMC`.
    let address: String

    /// As `GPGGA in line 212`.
    var description: String { "\(address) in line \(line)" }
}
