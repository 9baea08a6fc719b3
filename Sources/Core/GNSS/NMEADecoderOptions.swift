/// How `NMEADecoder` treats what receivers do not do alike; the defaults suit recorded logs.
package struct NMEADecoderOptions: Sendable {
    /// Which dates are believed.
    package enum Dates: Sendable {
        /// Every date is kept as stated: for recorded logs.
        case asStated
        /// Dates are moved by the multiple of 1024 weeks that brings them nearest to `reference`, which is asked at
        /// each date. Not believed is what then still lies more than two days before `earliest`, or has been moved to
        /// more than a year after `reference`. For live receivers.
        ///
        /// `reference` is the present to within years, `earliest` a moment that has certainly passed.
        case repaired(reference: @Sendable () -> UTCTime, earliest: UTCTime)
    }

    package var dates: Dates
    /// Whether sentences without a checksum count; old receivers send none.
    package var acceptsMissingChecksum: Bool

    package init(dates: Dates = .asStated, acceptsMissingChecksum: Bool = false) {
        (self.dates, self.acceptsMissingChecksum) = (dates, acceptsMissingChecksum)
    }
}
