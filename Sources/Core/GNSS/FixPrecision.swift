/// Decimals that written fixes keep: all that a receiver states, none that arithmetic invents.
enum FixPrecision {
    /// A tenth of a millimetre; receivers state minutes to eight decimals at most.
    static let degrees = 9
    static let meters = 3
    static let metersPerSecond = 4
    static let headingDegrees = 3
    static let dilution = 2
}
