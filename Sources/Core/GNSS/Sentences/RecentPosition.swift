/// Time, date and position as they were read last, with the text that stated them.
///
/// A receiver states time and position in several sentences of an epoch, character by character alike, and the date all
/// day: what has just been read is not read again.
struct RecentPosition: Sendable {
    fileprivate var timeText = RecentText()
    fileprivate var timeOfDay = TimeOfDay(milliseconds: 0)
    /// The digits of `ddmmyy`, as a number.
    fileprivate var dateDigits: Int64 = -1
    fileprivate var date: Int32?
    fileprivate var placeText = RecentText()
    fileprivate var latitude = 0.0
    fileprivate var longitude = 0.0
}

extension FieldCursor {
    /// `hhmmss`, as `timeOfDay()`.
    @inline(__always)
    mutating func timeOfDay(_ recent: inout RecentPosition) -> TimeOfDay? {
        if step(over: recent.timeText) { return recent.timeOfDay }
        let reading = unseenTime(&recent)
        self = reading.behind
        return reading.timeOfDay
    }

    /// `ddmmyy`, as `date()`.
    @inline(__always)
    mutating func date(_ recent: inout RecentPosition) -> Int32? {
        guard let digits = dateDigits() else { return nil }
        if digits != recent.dateDigits {
            recent.dateDigits = digits
            recent.date = Self.date(ofDigits: digits)
        }
        return recent.date
    }

    /// Latitude and longitude with their letters.
    @inline(__always)
    mutating func place(_ recent: inout RecentPosition) -> (latitude: Double?, longitude: Double?) {
        if step(over: recent.placeText) { return (recent.latitude, recent.longitude) }
        let reading = unseenPlace(&recent)
        self = reading.behind
        return (reading.latitude, reading.longitude)
    }

    @inline(never)
    private func unseenTime(_ recent: inout RecentPosition) -> (timeOfDay: TimeOfDay?, behind: FieldCursor) {
        var fields = self
        let timeOfDay = fields.timeOfDay()
        if let timeOfDay, let text = text(until: fields) {
            recent.timeText = text
            recent.timeOfDay = timeOfDay
        }
        return (timeOfDay, fields)
    }

    @inline(never)
    private func unseenPlace(
        _ recent: inout RecentPosition
    ) -> (latitude: Double?, longitude: Double?, behind: FieldCursor) {
        var fields = self
        let latitude = fields.latitude()
        let longitude = fields.longitude()
        if let latitude, let longitude, let text = text(until: fields) {
            recent.placeText = text
            recent.latitude = latitude
            recent.longitude = longitude
        }
        return (latitude, longitude, fields)
    }
}

/// Text of one field or several, the last comma included: 8 to 32 bytes in four words, which overlap in a short one.
struct RecentText: Sendable {
    /// Longer than any sentence goes on for while there is none.
    private(set) var length = Int.max
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    static let lengths = 8...32

    init() {}

    /// Of `length` bytes, one of `lengths`, from `start` on.
    @inline(__always)
    init(from start: UnsafePointer<UInt8>, length: Int) {
        self.length = length
        words = unsafe Self.words(from: start, length)
    }

    /// Whether the bytes from `start` on, of which as many must be readable as it has, are those of the text.
    @inline(__always)
    func isRepeated(from start: UnsafePointer<UInt8>) -> Bool {
        let others = unsafe Self.words(from: start, length)
        return (words.0 ^ others.0) | (words.1 ^ others.1) | (words.2 ^ others.2) | (words.3 ^ others.3) == 0
    }

    @inline(__always)
    private static func words(
        from start: UnsafePointer<UInt8>, _ length: Int
    ) -> (UInt64, UInt64, UInt64, UInt64) {
        let last = length &- 8
        return unsafe (
            WordScan.word(at: start), WordScan.word(at: start + min(8, last)),
            WordScan.word(at: start + max(last &- 8, 0)), WordScan.word(at: start + last)
        )
    }
}
