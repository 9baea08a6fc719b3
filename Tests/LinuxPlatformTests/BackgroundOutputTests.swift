import LinuxPlatform
import Testing

@Suite(.timeLimit(.minutes(1))) struct BackgroundOutputs {
    /// An output that hangs until it is released, and the bytes that it received.
    private final class Reader: Sendable {
        /// Readable when the output has received something.
        let isAsked: EventDescriptor
        let isReading: EventDescriptor
        private let lines = Locked<[String]>([])

        init() throws { (isAsked, isReading) = (try EventDescriptor(), try EventDescriptor()) }

        func take(_ bytes: [UInt8]) {
            isAsked.signal()
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

    @Test func keepTheOrderAndCountDroppedWrites() throws {
        // Ten bytes each: the first is being written, then 64 KiB wait.
        let all = 20_000
        let fitting = 1 + 64 * 1024 / 10
        write("\(100_000_000)")
        reader.isAsked.wait()
        for number in 1..<all { write("\(100_000_000 + number)") }
        #expect(reader.all.isEmpty, "nothing has been read, and nothing has waited for a reader")
        reader.isReading.signal()
        output.flush(within: .seconds(30))
        write("the last")
        output.flush(within: .seconds(30))

        #expect(reader.all.prefix(fitting).elementsEqual((0..<fitting).map { "\(100_000_000 + $0)" }))
        #expect(reader.all.dropFirst(fitting) == ["\(all - fitting) missing", "the last"])
    }

    @Test func acceptAWriteOfAnyLengthIfNothingIsPending() {
        let long = String(repeating: "x", count: 100_000)
        write(long)
        reader.isReading.signal()
        output.flush(within: .seconds(30))
        #expect(reader.all == [long])
    }

    @Test func flushWithinTheTimeLimit() {
        write("not read")
        output.flush(within: .milliseconds(1))
        #expect(reader.all.isEmpty)
        reader.isReading.signal()
    }

    @Test func haveNothingToFlushAtFirst() {
        output.flush(within: .seconds(600))
        #expect(reader.all.isEmpty)
    }
}
