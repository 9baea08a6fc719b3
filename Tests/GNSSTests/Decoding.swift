import GNSS
import WaypostTestSupport

/// Functions that decode sentences for the suites of this module.
enum Decoding {
    /// Returns the fixes of `text`, decoded in one piece.
    static func fixes(of text: String, options: NMEADecoderOptions = NMEADecoderOptions()) -> [Fix] {
        fixes(of: Array(text.utf8), options: options)
    }

    static func fixes(of bytes: [UInt8], options: NMEADecoderOptions = NMEADecoderOptions()) -> [Fix] {
        outcome(of: bytes, options: options).fixes
    }

    /// Returns the fixes and the statistics of `bytes`, decoded in pieces with the lengths that `cuts` returns.
    static func outcome(
        of bytes: [UInt8], options: NMEADecoderOptions = NMEADecoderOptions(), cuts: () -> Int = { .max }
    ) -> (fixes: [Fix], statistics: DecoderStatistics) {
        var decoder = NMEADecoder(options: options)
        var fixes: [Fix] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(max(1, cuts())))
            rest = rest.dropFirst(piece.count)
            decoder.decode(piece.span, receivedAt: .zero) { fixes.append($0) }
        }
        decoder.finish { fixes.append($0) }
        return (fixes, decoder.statistics)
    }

    /// Returns a ZDA sentence with the date 2026-01-05.
    static func dateSentence(at time: String = "101530.00") -> String { sentence("GPZDA,\(time),05,01,2026,00,00") }
}
