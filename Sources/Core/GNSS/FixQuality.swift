/// How a position was found; the words of the GGA quality field and of the mode letters (NMEA 0183 4.11).
package enum FixQuality: String, Sendable, Hashable, CaseIterable {
    case gps, dgps, pps, rtkFixed, rtkFloat
    /// Dead reckoning.
    case estimated
    case manual, simulated
}
