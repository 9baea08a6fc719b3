/// One sentence of a log as the decoder met it.
struct TracedSentence {
    let place: SentencePlace
    /// What stands before it on its line, behind the sentence before.
    let prefix: [UInt8]
    /// From the start byte to the second checksum digit, or as far as it was a sentence.
    let bytes: [UInt8]
    /// What follows one that was refused, as far as it was looked at.
    let following: [UInt8]
    /// Why the decoder refused it; `nil` when it did not.
    let refusal: SentenceRefusal?
    /// Which epoch it counts to; `nil` for what belongs to none.
    let epoch: Int?
    /// Whether that epoch was complete before it came.
    let isLate: Bool
    /// Of a date sentence: the first fix that took its date.
    var dated: UTCTime?
}
