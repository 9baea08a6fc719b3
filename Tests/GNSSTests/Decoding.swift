import GNSS
import WaypostTestSupport

/// Bytes to fixes: what the suites here have in common.
enum Decoding {
    /// The fixes of `text`, all of it at once, with its end.
    static func fixes(_ text: String, options: NMEADecoderOptions = NMEADecoderOptions()) -> [Fix] {
        fixes(Array(text.utf8), options: options)
    }

    static func fixes(_ bytes: [UInt8], options: NMEADecoderOptions = NMEADecoderOptions()) -> [Fix] {
        outcome(of: bytes, options: options).fixes
    }

    /// Fixes and account of `bytes`, given in pieces of the lengths that `cuts` yields.
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

    /// A date sentence that dates what stands beside it.
    static func date(_ time: String = "101530.00") -> String { sentence("GPZDA,\(time),05,01,2026,00,00") }
}
