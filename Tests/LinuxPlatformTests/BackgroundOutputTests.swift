import LinuxPlatform
import Testing

@Suite(.timeLimit(.minutes(1))) struct BackgroundOutputs {
    /// A reader of the output that hangs until it is released, and the lines that it has received.
    private final class HangingReader: Sendable {
        /// An event that is signalled when the reader has received something.
        let inputArrived: EventDescriptor
        let released: EventDescriptor
        private let lines = Locked<[String]>([])

        init() throws { (inputArrived, released) = (try EventDescriptor(), try EventDescriptor()) }

        func receive(_ bytes: [UInt8]) {
            inputArrived.signal()
            released.wait()
            lines.withLock { $0 += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init) }
        }

        var receivedLines: [String] { lines.withLock { $0 } }
    }

    private let reader: HangingReader
    private let output: BackgroundOutput

    init() throws {
        let reader = try HangingReader()
        self.reader = reader
        output = try BackgroundOutput(named: "output-test") { reader.receive($0) }
    }

    private func write(_ line: String) {
        output.write(Array("\(line)\n".utf8)) { Array("\($0) missing\n".utf8) }
    }

    @Test func keepTheOrderAndCountDroppedWrites() throws {
        // Each line has ten bytes. While the first is being written, 64 KiB wait.
        let lineCount = 20_000
        let fittingLines = 1 + 64 * 1024 / 10
        write("\(100_000_000)")
        reader.inputArrived.wait()
        for number in 1..<lineCount { write("\(100_000_000 + number)") }
        #expect(reader.receivedLines.isEmpty, "nothing has been read, and no write has waited for the reader")
        reader.released.signal()
        output.flush(within: .seconds(30))
        write("the last")
        output.flush(within: .seconds(30))

        #expect(
            reader.receivedLines.prefix(fittingLines).elementsEqual((0..<fittingLines).map { "\(100_000_000 + $0)" }))
        #expect(reader.receivedLines.dropFirst(fittingLines) == ["\(lineCount - fittingLines) missing", "the last"])
    }

    @Test func acceptAWriteOfAnyLengthIfNothingIsPending() {
        let long = String(repeating: "x", count: 100_000)
        write(long)
        reader.released.signal()
        output.flush(within: .seconds(30))
        #expect(reader.receivedLines == [long])
    }

    @Test func flushWithinTheTimeLimit() {
        write("not read")
        output.flush(within: .milliseconds(1))
        #expect(reader.receivedLines.isEmpty)
        reader.released.signal()
    }

    @Test func haveNothingToFlushAtFirst() {
        output.flush(within: .seconds(600))
        #expect(reader.receivedLines.isEmpty)
    }
}
