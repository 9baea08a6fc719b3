package import GNSS

/// One epoch of a simulated drive.
package struct DriveEpoch: Sendable {
    /// UTC of the epoch.
    package let time: UTCTime
    /// The fix that a faithful reader arrives at; `nil` where the receiver has none.
    package let truth: Fix?
    /// What the receiver sends, CR LF at each sentence's end.
    package let sentences: [UInt8]
}
