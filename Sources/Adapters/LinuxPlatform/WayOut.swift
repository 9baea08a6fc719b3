/// A way out of this machine: an address that is valid beyond its link, or a default route.
struct WayOut: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case address, route }

    var kind: Kind
    /// The kernel's number of the link.
    var interface: UInt32
    /// The address, or the gateway's; empty for a route without a gateway.
    var address: [UInt8]
}
