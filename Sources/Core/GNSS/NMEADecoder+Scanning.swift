/// Finding sentences and frames among whatever else a line carries.
extension NMEADecoder {
    /// Handles every complete sentence and frame; gives the index at which an incomplete one begins, or the count.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from: Int, isFinal: Bool, _ emit: (Fix) -> Void
    ) -> Int {
        var index = from
        isWithBinary = false
        while index < bytes.count {
            let byte = unsafe bytes[index]
            if isInComment {
                if byte < 0x20, byte != UInt8(ascii: "\t") { isInComment = false } else { index += 1 }
                continue
            }
            switch byte {
            case UInt8(ascii: "$"), UInt8(ascii: "!"):
                let frame = unsafe SentenceFrame(
                    in: bytes, startingAt: index, acceptsMissingChecksum: options.acceptsMissingChecksum)
                isAtLineStart = false
                switch frame.outcome {
                case .sentence: unsafe handle(bytes, from: index, to: frame.end, emit)
                case .refused(let reason): account.add(reason, line: account.lines + 1, byte: origin + index)
                case .incomplete: return index
                }
                index = frame.next
            case BinaryFrame.ubxStart, BinaryFrame.rtcmStart:
                let outcome =
                    unsafe byte == BinaryFrame.ubxStart
                    ? BinaryFrame.ubx(in: bytes, startingAt: index)
                    : BinaryFrame.rtcm(in: bytes, startingAt: index, crc)
                isAtLineStart = false
                switch outcome {
                case .frame(let length):
                    for place in index..<index + length where unsafe bytes[place] == UInt8(ascii: "\n") {
                        account.lines += 1
                    }
                    account.binaryBytes += length
                    index += length
                case .notAFrame: index += 1
                case .incomplete:
                    guard isFinal else {
                        isWithBinary = true
                        return index
                    }
                    index += 1
                }
            case UInt8(ascii: "\n"):
                account.lines += 1
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "\r"):
                isAtLineStart = true
                index += 1
            case UInt8(ascii: "#") where isAtLineStart:
                isInComment = true
                index += 1
            default:
                isAtLineStart = false
                index += 1
            }
        }
        return index
    }
}
