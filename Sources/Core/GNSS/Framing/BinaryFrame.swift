/// UBX and RTCM 3 frames, which receivers send between NMEA sentences. They must be skipped as a whole, because their
/// payloads may contain `$`.
enum BinaryFrame {
    enum Outcome {
        /// A complete frame of `length` bytes with a correct checksum.
        case frame(length: Int)
        case notAFrame
        case incomplete
    }

    static let ubxStart: UInt8 = 0xB5
    static let rtcmStart: UInt8 = 0xD3
    /// The maximum length of a UBX frame's payload, in bytes. The longest messages in use (satellite measurements,
    /// assistance data) are shorter, so a greater length means that the bytes are noise.
    private static let maximumUBXPayload = 8192
    /// The maximum length of a frame in bytes, including header, payload and checksum.
    static let maximumLength = maximumUBXPayload + 8

    /// Returns whether a UBX frame begins at `start`, and its length.
    /// The format is `B5 62 class id length16 payload check check`.
    static func ubxOutcome(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int) -> Outcome {
        let available = bytes.count - start
        guard available >= 2 else { return .incomplete }
        guard unsafe bytes[start + 1] == 0x62 else { return .notAFrame }
        guard available >= 6 else { return .incomplete }
        let payload = unsafe Int(bytes[start + 4]) | Int(bytes[start + 5]) << 8
        guard payload <= maximumUBXPayload else { return .notAFrame }
        let length = payload + 8
        guard available >= length else { return .incomplete }
        var sum = UInt8(0)
        var sumOfSums = UInt8(0)
        for index in start + 2..<start + length - 2 {
            unsafe sum &+= bytes[index]
            sumOfSums &+= sum
        }
        let agrees = unsafe sum == bytes[start + length - 2] && sumOfSums == bytes[start + length - 1]
        return agrees ? .frame(length: length) : .notAFrame
    }

    /// Returns whether an RTCM 3 frame begins at `start`, and its length. Such a frame consists of `D3`, six zero bits,
    /// a length in ten bits, the payload, and the CRC-24Q.
    static func rtcmOutcome(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, crc: CRC24Q) -> Outcome {
        let available = bytes.count - start
        guard available >= 2 else { return .incomplete }
        guard unsafe bytes[start + 1] & 0xFC == 0 else { return .notAFrame }
        guard available >= 3 else { return .incomplete }
        let payload = unsafe Int(bytes[start + 1] & 3) << 8 | Int(bytes[start + 2])
        let length = payload + 6
        guard available >= length else { return .incomplete }
        // The CRC remainder of a valid frame, including its checksum, is zero.
        return unsafe crc.remainder(of: bytes, from: start, to: start + length) == 0
            ? .frame(length: length) : .notAFrame
    }
}

/// The checksum of RTCM 3 frames (polynomial 0x1864CFB), computed eight bytes at a time.
struct CRC24Q: Sendable {
    /// Eight tables of 256 entries. Table n (0 to 7) contains the remainder of each byte value followed by n zero
    /// bytes.
    private let tables: [UInt32]

    static let standard = CRC24Q()

    private init() {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var remainder = UInt32(byte) << 16
            for _ in 0..<8 {
                remainder <<= 1
                if remainder & 0x100_0000 != 0 { remainder ^= 0x186_4CFB }
            }
            tables[byte] = remainder
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = (before << 8 & 0xFF_FFFF) ^ tables[Int(before >> 16)]
        }
        self.tables = tables
    }

    func remainder(of bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> UInt32 {
        unsafe tables.withUnsafeBufferPointer { tables in
            var remainder: UInt32 = 0
            var index = start
            while index + 8 <= end {
                let high = unsafe UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                let mixed = remainder ^ high
                // The XOR is split into four pairs, because Swift 6.2 can't type-check a single expression in
                // reasonable time.
                let first = unsafe tables[7 * 256 + Int(mixed >> 16)] ^ tables[6 * 256 + Int(mixed >> 8 & 255)]
                let second = unsafe tables[5 * 256 + Int(mixed & 255)] ^ tables[4 * 256 + Int(bytes[index + 3])]
                let third = unsafe tables[3 * 256 + Int(bytes[index + 4])] ^ tables[2 * 256 + Int(bytes[index + 5])]
                let fourth = unsafe tables[256 + Int(bytes[index + 6])] ^ tables[Int(bytes[index + 7])]
                remainder = first ^ second ^ third ^ fourth
                index += 8
            }
            while index < end {
                unsafe remainder = (remainder << 8 & 0xFF_FFFF) ^ tables[Int(remainder >> 16 ^ UInt32(bytes[index]))]
                index += 1
            }
            return remainder
        }
    }
}
