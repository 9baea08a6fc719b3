import ReceiverSimulator
import TimeAndRandomness
import WaypostTestSupport

/// A drive with all kinds of other bytes that real lines carry: one kind after each epoch, in turn.
enum MixedStream {
    static func bytes(seed: UInt64, seconds: Int) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
        var bytes: [UInt8] = []
        for (index, epoch) in Drive(.town, seed: seed, duration: .seconds(seconds)).enumerated() {
            bytes += epoch.sentences
            switch index % kindCount {
            case 0: bytes += Framing.rtcmStationPosition
            case 1: bytes += Framing.ubxFrame(payload: noise(120))
            case 2: bytes += Array(TagBlocks.tagBlock("s:r1,c:1767608131", before: "").utf8)
            case 3: bytes += Array("# a note with $GPRMC in it\n".utf8)
            case 4: bytes += epoch.sentences.prefix(30)
            case 5: bytes += [0xB5, 0x62, 1, 7, 255, 2]
            case 6: bytes += Array("\\s:never ended".utf8)
            case 7: bytes += Array(sentence("HEHDT,90.0,T").utf8)
            case 8: bytes += Array("$GPGLL,5231.5,N*\r\n".utf8)
            case 9: bytes += noise(40)
            default: break
            }
        }
        return bytes
    }

    /// The number of kinds, and of epochs after which each kind has occurred once.
    static let kindCount = 11
}
