/// A secret that was sent or is kept, and how it is found in a text that repeats it.
///
/// Only letters and digits are compared, in small letters: what breaks a secret up, by lines, quotes or colours, hides
/// nothing. Of a long one, each piece of eight to twelve characters counts; of a short one, the whole.
struct KnownSecret: Sendable {
    /// Shorter ones would strike out half of any text, and are none.
    private static let shortest = 4
    private static let shortestPiece = 8
    private static let longestPiece = 12
    private static let factor: UInt64 = 1_099_511_628_211

    /// As it was sent, without escapes.
    private let bytes: [UInt8]
    private let pieceLength: Int
    /// The sums of all its pieces; empty for one that counts as a whole.
    private let pieces: Set<UInt64>

    /// `nil` for one that is too short.
    init?(_ text: String) {
        bytes = DecodedText(text.utf8).bytes
        guard bytes.count >= Self.shortest else { return nil }
        let letters = bytes.filter(\.isAlphanumeric)
        pieceLength = min(Self.longestPiece, max(Self.shortestPiece, letters.count / 2))
        var pieces: Set<UInt64> = []
        Self.eachPiece(of: letters, length: pieceLength) { pieces.insert($1) }
        self.pieces = pieces
    }

    /// Strikes it out of `text`, which has no escapes any more.
    func strike(in text: [UInt8], _ marks: inout StruckBytes) {
        guard !pieces.isEmpty else { return strikeWhole(in: text, &marks) }
        let places = text.indices.filter { text[$0].isAlphanumeric }
        var end = 0
        Self.eachPiece(of: places.map { text[$0] }, length: pieceLength) { start, sum in
            guard pieces.contains(sum) else { return }
            let (first, last) = (places[start], places[start + pieceLength - 1])
            marks.strike(max(first, end)..<last + 1)
            end = last + 1
        }
    }

    /// The secret is short, and nobody else's: no text makes this slow.
    private func strikeWhole(in text: [UInt8], _ marks: inout StruckBytes) {
        var index = 0
        while index + bytes.count <= text.count {
            if text[index] == bytes[0], text[index..<index + bytes.count].elementsEqual(bytes) {
                marks.strike(index..<index + bytes.count)
                index += bytes.count
            } else {
                index += 1
            }
        }
    }

    /// A sum that goes along: that of each piece follows from the one before.
    private static func eachPiece(of letters: [UInt8], length: Int, _ body: (_ start: Int, _ sum: UInt64) -> Void) {
        guard letters.count >= length else { return }
        let leaving = (0..<length).reduce(UInt64(1)) { product, _ in product &* factor }
        var sum: UInt64 = 0
        for (index, letter) in letters.enumerated() {
            sum = sum &* factor &+ UInt64(letter | 0x20)
            if index >= length { sum = sum &- leaving &* UInt64(letters[index - length] | 0x20) }
            if index >= length - 1 { body(index - length + 1, sum) }
        }
    }
}
