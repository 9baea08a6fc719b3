/// Frames of the binary protocols that share a line with sentences; their payloads may contain `$`.
enum BinaryFrame {
    enum Outcome {
        /// A whole frame of so many bytes whose check agrees.
        case frame(length: Int)
        /// Not a frame: go on one byte further.
        case notAFrame
        case incomplete
    }

    static let ubxStart: UInt8 = 0xB5
    static let rtcmStart: UInt8 = 0xD3
    /// The longest UBX message in use (satellite measurements, assistance data) stays below; a longer length is noise.
    static let maximumUBXPayload = 8192
    /// Header, payload and check of the longest frame.
    static let maximumLength = maximumUBXPayload + 8

    /// Judges what begins with `B5` at `start`: `B5 62 class id length16 payload check check`.
    static func ubx(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int) -> Outcome {
        let available = bytes.count - start
        guard available >= 2 else { return .incomplete }
        guard unsafe bytes[start + 1] == 0x62 else { return .notAFrame }
        guard available >= 6 else { return .incomplete }
        let payload = unsafe Int(bytes[start + 4]) | Int(bytes[start + 5]) << 8
        guard payload <= maximumUBXPayload else { return .notAFrame }
        let length = payload + 8
        guard available >= length else { return .incomplete }
        var (sum, sumOfSums) = (UInt8(0), UInt8(0))
        for index in start + 2..<start + length - 2 {
            unsafe sum &+= bytes[index]
            sumOfSums &+= sum
        }
        let agrees = unsafe sum == bytes[start + length - 2] && sumOfSums == bytes[start + length - 1]
        return agrees ? .frame(length: length) : .notAFrame
    }

    /// Judges what begins with `D3` at `start`: `D3`, six zero bits, ten bits of length, payload, CRC-24Q.
    static func rtcm(in bytes: UnsafeBufferPointer<UInt8>, startingAt start: Int, _ crc: CRC24Q) -> Outcome {
        let available = bytes.count - start
        guard available >= 2 else { return .incomplete }
        guard unsafe bytes[start + 1] & 0xFC == 0 else { return .notAFrame }
        guard available >= 3 else { return .incomplete }
        let payload = unsafe Int(bytes[start + 1] & 3) << 8 | Int(bytes[start + 2])
        let length = payload + 6
        guard available >= length else { return .incomplete }
        // The check runs to zero over a frame together with its own check bytes.
        return unsafe crc.remainder(of: bytes, from: start, to: start + length) == 0
            ? .frame(length: length) : .notAFrame
    }
}
