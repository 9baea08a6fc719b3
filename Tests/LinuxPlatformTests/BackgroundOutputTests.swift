import LinuxPlatform
import Testing

@Suite(.timeLimit(.minutes(1))) struct BackgroundOutputs {
    /// An output that hangs until it is let go, and what it has taken.
    private final class Reader: Sendable {
        let isReading: EventDescriptor
        private let lines = Locked<[String]>([])

        init() throws { isReading = try EventDescriptor() }

        func take(_ bytes: [UInt8]) {
            isReading.wait()
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init) }
        }

        var all: [String] { lines.withLock { $0 } }
    }

    private let reader: Reader
    private let output: BackgroundOutput

    init() throws {
        let reader = try Reader()
        self.reader = reader
        output = try BackgroundOutput(named: "output-test") { reader.take($0) }
    }

    private func write(_ line: String) {
        output.write(Array("\(line)\n".utf8)) { Array("\($0) missing\n".utf8) }
    }

    @Test func keepsTheOrderAndCountsWhatFindsNoRoom() throws {
        // Ten bytes each; at most as much is being written as may wait.
        let all = 20_000
        for number in 0..<all { write("\(100_000_000 + number)") }
        #expect(reader.all.isEmpty, "nobody has read, and nobody has waited for that")
        reader.isReading.signal()
        output.flush(within: .seconds(30))
        write("the last")
        output.flush(within: .seconds(30))

        let kept = reader.all.dropLast(2)
        #expect(kept.elementsEqual((0..<kept.count).map { "\(100_000_000 + $0)" }))
        #expect((6_000...14_000).contains(kept.count), "64 to 128 KiB, but \(kept.count) lines")
        #expect(reader.all.suffix(2) == ["\(all - kept.count) missing", "the last"])
    }

    @Test func isNotWaitedForLongerThanTheLimit() {
        write("nobody reads this")
        output.flush(within: .milliseconds(1))
        #expect(reader.all.isEmpty)
        reader.isReading.signal()
    }

    @Test func hasNothingToFlushAtFirst() {
        output.flush(within: .seconds(60))
        #expect(reader.all.isEmpty)
    }
}
