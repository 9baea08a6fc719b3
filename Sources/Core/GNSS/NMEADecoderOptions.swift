/// How `NMEADecoder` treats what receivers do not do alike; the defaults suit recorded logs.
package struct NMEADecoderOptions: Sendable, Hashable {
    /// Which dates are believed.
    package enum Dates: Sendable, Hashable {
        /// Every date is kept as stated: for recorded logs.
        case asStated
        /// Dates are moved by the multiple of 1024 weeks that brings them nearest to `reference`; what then still
        /// lies more than two days before it is not believed: for live receivers.
        ///
        /// `reference` is the latest of build date, last good time on disk, and the server's time.
        case repaired(reference: UTCTime)
    }

    package var dates: Dates
    /// Whether sentences without a checksum count; old receivers send none.
    package var acceptsMissingChecksum: Bool

    package init(dates: Dates = .asStated, acceptsMissingChecksum: Bool = false) {
        (self.dates, self.acceptsMissingChecksum) = (dates, acceptsMissingChecksum)
    }
}
