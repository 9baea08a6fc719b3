/// What looks like a secret, whoever's it is: JSON Web Tokens and parts of them, long words without sense, the figures
/// of many characters.
///
/// A word may be a token by what it begins with (`eyJ`, as every JSON object in base64), by its length, or because
/// small letters, capitals and digits take turns in it as they do in no name, path, version or UUID. The id in the name
/// of one of Fleet Engine's resources is not a token.
struct SecretShapes {
    /// Shorter words may be a checksum, a request's number, a person's.
    private static let shortestRandom = 20
    /// So many letters without a gap are not a word.
    private static let longestWord = 40
    /// Fewer figures in a row may be anybody's, and as letters of a secret would be left too.
    private static let fewestFigures = 12
    /// Between two figures: a comma, a line's end, what indents the next.
    private static let longestGap = 24

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func strike(_ marks: inout StruckBytes) {
        var index = 0
        while index < bytes.count {
            guard bytes[index].isWord else {
                index += 1
                continue
            }
            let word = index..<end(ofWordAt: index)
            if let token = token(in: word) {
                index = wholeToken(from: token.upperBound)
                marks.strike(token.lowerBound..<index)
                strikeRandom(in: word.lowerBound..<token.lowerBound, &marks)
            } else {
                strikeRandom(in: word, &marks)
                index = word.upperBound
            }
        }
        strikeFigures(&marks)
    }

    private func end(ofWordAt start: Int) -> Int {
        bytes[start...].firstIndex { !$0.isWord } ?? bytes.count
    }

    // MARK: - JSON Web Tokens

    /// From what stands before `eyJ` without a slash or an equals sign between, to the end of the word.
    private func token(in word: Range<Int>) -> Range<Int>? {
        guard word.count > 2 else { return nil }
        for index in word.lowerBound..<word.upperBound - 2
        where bytes[index] == UInt8(ascii: "e") && bytes[index + 1] == UInt8(ascii: "y")
            && bytes[index + 2] == UInt8(ascii: "J")
            // As in `privateKeyJSON`.
            && (index == word.lowerBound || bytes[index - 1] | 0x20 != UInt8(ascii: "k"))
        {
            let before = bytes[word.lowerBound..<index].lastIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
            let end = bytes[index..<word.upperBound].lastIndex { $0 != UInt8(ascii: ".") } ?? index
            // Three letters are no token yet, unless more follows.
            guard end - index > 3 || wholeToken(from: end + 1) > end + 1 else { continue }
            return (before.map { $0 + 1 } ?? word.lowerBound)..<end + 1
        }
        return nil
    }

    /// Where a token ends that may go on behind blanks: with the first ordinary word.
    func wholeToken(from end: Int) -> Int {
        var end = end
        while true {
            // Not far: a line's end and what indents the next.
            let next = bytes[end..<min(end + 8, bytes.count)].firstIndex { !$0.isBlank && $0 != UInt8(ascii: ".") }
            guard let next, next > end, bytes[next].isWord else { return end }
            let word = next..<self.end(ofWordAt: next)
            guard isTokenPiece(word) else { return end }
            end = word.upperBound
        }
    }

    /// Whether capitals or digits stand where a name has none.
    private func isTokenPiece(_ word: Range<Int>) -> Bool {
        let letters = bytes[word]
        guard letters.contains(where: \.isLowercase) else { return false }
        return letters.dropFirst().contains(where: \.isUppercase)
            || letters.contains(where: \.isDigit) && !letters.contains(UInt8(ascii: "-"))
            || word.count > Self.longestWord
    }

    // MARK: - Words without sense

    private func strikeRandom(in word: Range<Int>, _ marks: inout StruckBytes) {
        guard word.count >= Self.shortestRandom else { return }
        for part in parts(of: word, between: [UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "=")]) {
            let segments = parts(of: part, between: [UInt8(ascii: "/"), UInt8(ascii: "+")])
            let names = segments.filter(isCollection)
            let isBase64 =
                names.isEmpty && !bytes[part].contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
            let hasAll =
                bytes[part].contains(where: \.isDigit) && bytes[part].contains(where: \.isUppercase)
                && bytes[part].contains(where: \.isLowercase)
            // A slash is base64's and a path's, and a path should stay readable.
            if isBase64, hasAll, isRandom(part) {
                let slash = bytes[part.lowerBound] == UInt8(ascii: "/") ? 1 : 0
                marks.strike(part.lowerBound + slash..<part.upperBound)
                continue
            }
            var isID = false
            for segment in segments {
                if !(isID && segment.count <= Self.longestWord), isRandom(segment) { marks.strike(segment) }
                isID = isCollection(segment)
            }
        }
    }

    /// Whether ids of Fleet Engine's resources follow, which may be without sense: they are names.
    private func isCollection(_ segment: Range<Int>) -> Bool {
        Self.collections.contains { $0.elementsEqual(bytes[segment]) }
    }

    private static let collections = ["providers", "vehicles", "deliveryVehicles", "trips", "tasks"].map {
        Array($0.utf8)
    }

    private func parts(of range: Range<Int>, between marks: Set<UInt8>) -> [Range<Int>] {
        bytes[range].split { marks.contains($0) }.map { $0.startIndex..<$0.endIndex }
    }

    // MARK: - Characters in figures

    /// A run of figures that stand for characters, in whatever writing: `65:79:4a`, `0x65, 0x79`, `101 121 74`,
    /// `\145\171`, `U+0065`, `6579 4a68`. Addresses, times and positions hold figures that stand for none.
    private func strikeFigures(_ marks: inout StruckBytes) {
        var (run, count, index) = (0..<0, 0, 0)
        while index < bytes.count {
            guard bytes[index].isAlphanumeric else {
                index += 1
                continue
            }
            let word = index..<(bytes[index...].firstIndex { !$0.isAlphanumeric } ?? bytes.count)
            index = word.upperBound
            let characters = characters(in: bytes[word])
            if characters == 0 { continue }
            if let characters, count > 0, word.lowerBound - run.upperBound <= Self.longestGap {
                (run, count) = (run.lowerBound..<word.upperBound, count + characters)
            } else {
                if count >= Self.fewestFigures { marks.strike(run) }
                (run, count) = (word, characters ?? 0)
            }
        }
        if count >= Self.fewestFigures { marks.strike(run) }
    }

    /// For how many visible characters a word stands; `nil` when it is a word of another kind.
    private func characters(in word: ArraySlice<UInt8>) -> Int? {
        // The letter of `U+0065`, or one that stands for itself between figures.
        guard word.count > 1 else { return 0 }
        let mark = word.first == UInt8(ascii: "0") ? word.dropFirst().first : word.first
        let isMarked = mark.map { $0 | 0x20 == UInt8(ascii: "x") || $0 | 0x20 == UInt8(ascii: "u") } ?? false
        let figures = isMarked ? word.dropFirst(mark == word.first ? 1 : 2) : word
        guard figures.allSatisfy(\.isHexadecimal) else { return nil }
        if figures.count <= 8, [16, 10, 8, 2].contains(where: { isVisible(figures, radix: $0) }) { return 1 }
        // Several characters together, or each in 16 bits.
        guard figures.count % 2 == 0 else { return nil }
        var count = 0
        for start in stride(from: figures.startIndex, to: figures.endIndex, by: 2) {
            let pair = figures[start..<start + 2]
            if isVisible(pair, radix: 16) { count += 1 } else if pair.contains(where: { $0 != 0x30 }) { return nil }
        }
        return count
    }

    private func isVisible(_ figures: ArraySlice<UInt8>, radix: Int) -> Bool {
        DecodedText.number(figures, radix: radix).map { 0x20...0x7E ~= $0 } ?? false
    }

    private func isRandom(_ word: Range<Int>) -> Bool {
        var (letters, pairs, turns) = (0, 0, 0)
        let pieces = bytes[word].split { !$0.isAlphanumeric }
        var rest = pieces[...]
        while let piece = rest.first {
            if Self.isUUID(rest.prefix(5)) {
                rest = rest.dropFirst(5)
                continue
            }
            rest = rest.dropFirst()
            if piece.count > Self.longestWord { return true }
            if piece.count >= Self.shortestRandom, Self.isHexadecimal(piece) { return true }
            letters += piece.count
            pairs += piece.count - 1
            turns += Self.turns(in: piece)
        }
        return letters >= Self.shortestRandom && turns * 4 >= pairs && pairs > 0
    }

    private static func isUUID(_ pieces: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        pieces.map(\.count) == [8, 4, 4, 4, 12] && pieces.allSatisfy { $0.allSatisfy(\.isHexadecimal) }
            && zip(pieces, pieces.dropFirst()).allSatisfy { $0.endIndex + 1 == $1.startIndex }
    }

    private static func isHexadecimal(_ piece: ArraySlice<UInt8>) -> Bool {
        piece.allSatisfy(\.isHexadecimal) && piece.count(where: \.isDigit) > 1 && piece.count { !$0.isDigit } > 1
    }

    /// How often letters and digits, small letters and capitals change; a capital that begins a word is no change of
    /// its own, as in `lastLocation`.
    private static func turns(in piece: ArraySlice<UInt8>) -> Int {
        var turns = 0
        for index in piece.indices.dropFirst() {
            let (one, other) = (piece[index - 1], piece[index])
            let isSame =
                one.isDigit == other.isDigit && one.isUppercase == other.isUppercase
                && one.isLowercase == other.isLowercase
            let isBeginning =
                one.isUppercase && other.isLowercase && (index - 1 == piece.startIndex || !piece[index - 2].isUppercase)
            if !isSame, !isBeginning { turns += 1 }
        }
        return turns
    }
}
