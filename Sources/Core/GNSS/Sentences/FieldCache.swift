/// The last time, date and position that were parsed, each with the text it was parsed from.
///
/// A receiver sends the same time and position with the same characters in several sentences of an epoch, and the same
/// date all day. A text that is repeated needn't be parsed again.
struct FieldCache: Sendable {
    fileprivate var timeText = CachedText()
    fileprivate var timeOfDay = TimeOfDay(milliseconds: 0)
    /// The digits of the date's text `ddmmyy`, read as one number.
    fileprivate var dateDigits: Int64 = -1
    fileprivate var date: Int32?
    fileprivate var coordinatesText = CachedText()
    fileprivate var latitude = 0.0
    fileprivate var longitude = 0.0
}

extension FieldCursor {
    /// Reads a time `hhmmss` like `readTimeOfDay()`, but doesn't parse a repeated text again.
    @inline(__always)
    mutating func readTimeOfDay(_ cache: inout FieldCache) -> TimeOfDay? {
        if skipIfRepeated(cache.timeText) { return cache.timeOfDay }
        let reading = parseTime(into: &cache)
        self = reading.next
        return reading.timeOfDay
    }

    /// Reads a date `ddmmyy` like `readDate()`, but doesn't parse a repeated text again.
    @inline(__always)
    mutating func readDate(_ cache: inout FieldCache) -> Int32? {
        guard let digits = readDateDigits() else { return nil }
        if digits != cache.dateDigits {
            cache.dateDigits = digits
            cache.date = Self.daysSince1970(ofDateDigits: digits)
        }
        return cache.date
    }

    /// Reads a latitude and a longitude, each with its hemisphere letter.
    @inline(__always)
    mutating func readCoordinates(_ cache: inout FieldCache) -> (latitude: Double?, longitude: Double?) {
        if skipIfRepeated(cache.coordinatesText) { return (cache.latitude, cache.longitude) }
        let reading = parseCoordinates(into: &cache)
        self = reading.next
        return (reading.latitude, reading.longitude)
    }

    @inline(never)
    private func parseTime(into cache: inout FieldCache) -> (timeOfDay: TimeOfDay?, next: FieldCursor) {
        var fields = self
        let timeOfDay = fields.readTimeOfDay()
        if let timeOfDay, let text = cachedText(until: fields) {
            cache.timeText = text
            cache.timeOfDay = timeOfDay
        }
        return (timeOfDay, fields)
    }

    @inline(never)
    private func parseCoordinates(
        into cache: inout FieldCache
    ) -> (latitude: Double?, longitude: Double?, next: FieldCursor) {
        var fields = self
        let latitude = fields.readLatitude()
        let longitude = fields.readLongitude()
        if let latitude, let longitude, let text = cachedText(until: fields) {
            cache.coordinatesText = text
            cache.latitude = latitude
            cache.longitude = longitude
        }
        return (latitude, longitude, fields)
    }
}

/// The text of one or more fields, including the last comma. It is 8 to 32 bytes long, and is stored in four words,
/// which overlap if the text is short.
struct CachedText: Sendable {
    /// The length of the text in bytes. It is `Int.max` while there is no text, so that no sentence is long enough to
    /// match.
    private(set) var length = Int.max
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    static let possibleLengths = 8...32

    init() {}

    /// Copies `length` bytes. `length` must be in `possibleLengths`.
    @inline(__always)
    init(from start: UnsafePointer<UInt8>, length: Int) {
        self.length = length
        words = unsafe Self.words(from: start, length: length)
    }

    /// Whether the bytes that begin at `start` equal this text. `length` bytes must be readable.
    @inline(__always)
    func matchesBytes(at start: UnsafePointer<UInt8>) -> Bool {
        let others = unsafe Self.words(from: start, length: length)
        return (words.0 ^ others.0) | (words.1 ^ others.1) | (words.2 ^ others.2) | (words.3 ^ others.3) == 0
    }

    @inline(__always)
    private static func words(
        from start: UnsafePointer<UInt8>, length: Int
    ) -> (UInt64, UInt64, UInt64, UInt64) {
        let last = length &- 8
        return unsafe (
            SWAR.word(at: start), SWAR.word(at: start + min(8, last)),
            SWAR.word(at: start + max(last &- 8, 0)), SWAR.word(at: start + last)
        )
    }
}
