import LinuxPlatform
import Testing

@Suite(.timeLimit(.minutes(1))) struct BackgroundOutputs {
    /// An output that hangs until it is released, and the lines that it has received.
    private final class Reader: Sendable {
        /// An event that is signalled when the output has received something.
        let inputArrived: EventDescriptor
        let released: EventDescriptor
        private let lines = Locked<[String]>([])

        init() throws { (inputArrived, released) = (try EventDescriptor(), try EventDescriptor()) }

        func take(_ bytes: [UInt8]) {
            inputArrived.signal()
            released.wait()
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
        // Each line has ten bytes. While the first is being written, 64 KiB wait.
        let all = 20_000
        let fitting = 1 + 64 * 1024 / 10
        write("\(100_000_000)")
        reader.inputArrived.wait()
        for number in 1..<all { write("\(100_000_000 + number)") }
        #expect(reader.all.isEmpty, "nothing has been read, and no write has waited for the reader")
        reader.released.signal()
        output.flush(within: .seconds(30))
        write("the last")
        output.flush(within: .seconds(30))

        #expect(reader.all.prefix(fitting).elementsEqual((0..<fitting).map { "\(100_000_000 + $0)" }))
        #expect(reader.all.dropFirst(fitting) == ["\(all - fitting) missing", "the last"])
    }

    @Test func acceptAWriteOfAnyLengthIfNothingIsPending() {
        let long = String(repeating: "x", count: 100_000)
        write(long)
        reader.released.signal()
        output.flush(within: .seconds(30))
        #expect(reader.all == [long])
    }

    @Test func flushWithinTheTimeLimit() {
        write("not read")
        output.flush(within: .milliseconds(1))
        #expect(reader.all.isEmpty)
        reader.released.signal()
    }

    @Test func haveNothingToFlushAtFirst() {
        output.flush(within: .seconds(600))
        #expect(reader.all.isEmpty)
    }
}
