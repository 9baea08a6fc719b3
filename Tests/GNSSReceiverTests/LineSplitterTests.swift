import Testing

@testable import GNSSReceiver

@Suite struct LineSplitters {
    private func lines(in pieces: [[UInt8]]) -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        for piece in pieces { splitter.split(piece.span) { lines.append(String(decoding: $0, as: UTF8.self)) } }
        return lines
    }

    @Test func findTheSameLinesInPiecesOfAnyLength() {
        let text = Array("one\r\n\ntwo\nthree".utf8)
        #expect(lines(in: [text]) == ["one\r", "", "two"])
        #expect(lines(in: text.map { [$0] }) == ["one\r", "", "two"])
    }

    @Test func skipAnEndlessLine() {
        let flood = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        let end = Array("\nnext\n".utf8)
        #expect(lines(in: [flood, end]).map(\.utf8.count) == [1 << 16, 4])
        #expect(lines(in: [flood, [0x78], flood, flood, end]) == ["next"])
    }
}
