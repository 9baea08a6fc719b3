package import LinuxPlatform

/// Everything a simulator can be told before it starts.
package struct SimulatorSettings: Sendable {
    /// Port 0 takes a free one.
    package var address = LocalAddress.loopback(host: "127.0.0.1", port: 0)
    /// The only provider that exists; `nil` takes any.
    package var providerID: String?
    package var existence = VehicleExistence.onFirstUse
    package var tokenShape = TokenAnswerShape.guide
    package var faults = FaultPlan()
    /// The trips that exist, for whichever provider asks.
    package var trips: [SimulatedTrip] = []
    /// Decides where the faults fall.
    package var seed: UInt64 = 1
    /// An RSA private key in DER that signs the tokens; `nil` makes a new one, so that no earlier token is valid.
    package var signingKey: [UInt8]?
    /// A public key in PEM whose tokens are accepted too: a backend's own.
    package var trustedKey: [UInt8]?
    /// Where the complete record goes as JSON Lines; `nil` keeps it in memory only, within bounds.
    package var recordPath: String?
    /// The server's clock, in milliseconds since 1970.
    package var clock: @Sendable () -> Int64 = systemMilliseconds

    package init() {}
}
