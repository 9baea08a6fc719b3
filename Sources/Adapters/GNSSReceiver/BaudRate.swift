/// How fast a receiver on a serial line sends.
package enum BaudRate: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// Bits a second, one of `SerialReceiver.supportedBaudRates`.
    case fixed(Int)
    /// Looked for at each opening, the rate that was right last time first.
    case automatic

    package init(integerLiteral rate: Int) { self = .fixed(rate) }
}
