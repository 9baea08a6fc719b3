import ReceiverSimulator

/// A drive with everything between its sentences that lines really carry.
enum MixedStream {
    static func bytes(seed: UInt64, seconds: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for epoch in Drive(.town, seed: seed, duration: .seconds(seconds)) {
            bytes += epoch.sentences
            switch Int.random(in: 0..<8, using: &random) {
            case 0: bytes += Framing.rtcmStationPosition
            case 1:
                bytes += Framing.ubx(payload: (0..<120).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            case 2: bytes += (0..<40).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            case 3: bytes += Array("# a note with $GPRMC in it\n".utf8)
            case 4: bytes += epoch.sentences.prefix(30)
            case 5: bytes += [0xB5, 0x62, 1, 7, 255, 2]
            default: break
            }
        }
        return bytes
    }
}
