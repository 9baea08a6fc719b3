/// Finding sentences and frames among whatever else a line carries.
extension NMEADecoder {
    /// Handles every complete sentence and frame that begins before `limit`, though it may end beyond; gives the index
    /// at which an incomplete one begins, or the first one that was not looked at.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from: Int, until limit: Int, isFinal: Bool, _ emit: (Fix) -> Void
    ) -> Int {
        var index = from
        isWithBinary = false
        while index < limit {
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
                case .startAlone: break
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
                    unsafe account.lines += Self.lineFeeds(in: bytes, from: index, to: index + length)
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
            case TagBlock.mark:
                isAtLineStart = false
                switch unsafe TagBlock.outcome(in: bytes, startingAt: index) {
                case .block(let length, let transmittedAt):
                    if let transmittedAt { assembler.noteTransmission(at: transmittedAt) }
                    index += length
                case .incomplete where !isFinal: return index
                case .notABlock, .incomplete: index += 1
                }
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

    /// Counts line feeds, eight bytes at a time: lines are numbered as an editor numbers them, binary bytes or not.
    private static func lineFeeds(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var (count, index) = (0, start)
        while index + 8 <= end {
            let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            count += WordScan.count(of: UInt8(ascii: "\n"), in: word)
            index += 8
        }
        while index < end {
            if unsafe bytes[index] == UInt8(ascii: "\n") { count += 1 }
            index += 1
        }
        return count
    }
}
