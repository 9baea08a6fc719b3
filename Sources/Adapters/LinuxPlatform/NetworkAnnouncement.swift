import CLinux

/// What the kernel announces about addresses and routes (rtnetlink(7)): messages of a header of 16 bytes each, in the
/// byte order of the machine.
enum NetworkAnnouncement {
    private static let headerLength = 16
    /// Addresses and routes of this scope or a wider one lead out of the machine.
    private static let widestScope = UInt8(RT_SCOPE_UNIVERSE.rawValue)
    private static let siteScope = UInt8(RT_SCOPE_SITE.rawValue)

    /// Whether one of the messages in `datagram` tells of a way out that is new: an address that is valid beyond this
    /// link, or a default route.
    static func tellsOfWayOut(_ datagram: Span<UInt8>) -> Bool {
        var start = 0
        while start + headerLength <= datagram.count {
            let length = Int(word(datagram, at: start))
            guard length >= headerLength, start + length <= datagram.count else { return false }
            let body = datagram.extracting((start + headerLength)..<(start + length))
            switch Int(datagram[start + 4]) | Int(datagram[start + 5]) << 8 {
            case Int(RTM_NEWADDR): if isAddressOut(body) { return true }
            case Int(RTM_NEWROUTE): if isDefaultRoute(body) { return true }
            default: break
            }
            start += (length + 3) & ~3
        }
        return false
    }

    /// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
    private static func isAddressOut(_ body: Span<UInt8>) -> Bool {
        body.count >= 8 && (body[3] == widestScope || body[3] == siteScope)
    }

    /// `struct rtmsg`: family, destination length, source length, service, table, protocol, scope, type, flags.
    private static func isDefaultRoute(_ body: Span<UInt8>) -> Bool {
        body.count >= 12 && body[1] == 0 && body[4] == UInt8(RT_TABLE_MAIN.rawValue) && body[7] == UInt8(RTN_UNICAST)
    }

    private static func word(_ bytes: Span<UInt8>, at start: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32($1 * 8) }
    }
}
