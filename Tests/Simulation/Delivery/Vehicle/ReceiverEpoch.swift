import TimeAndChance

/// What a receiver says of one moment.
struct ReceiverEpoch {
    var time: UTCTime
    var hasFix = true
    var latitude: Double
    var longitude: Double
    /// Metres a second.
    var speed: Double
    /// Whole degrees.
    var course: Int
    var dilution = 0.9
    /// Whether it sends GSA as well.
    var isVerbose = false
}
