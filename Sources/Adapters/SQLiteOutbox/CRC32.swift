/// The checksum of Ethernet and zip (reflected polynomial 0xEDB88320), byte by byte from a table.
struct CRC32 {
    private var register: UInt32 = 0xffff_ffff

    var value: UInt32 { ~register }

    mutating func update(_ byte: UInt8) {
        register = Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { update(byte) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }
}
