import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct PseudoTerminals {
    @Test func dropBytesWithoutAReaderAndCarryLaterOnes() throws {
        let terminal = try PseudoTerminal()
        do { _ = try SerialLine(path: terminal.path, baudRate: 9600) }  // opened, and closed again
        let noise = [UInt8](repeating: UInt8(ascii: "U"), count: 10_000)
        for _ in 0..<20 { try terminal.send(noise) }  // many times the capacity of a line

        let line = try SerialLine(path: terminal.path, baudRate: 9600)
        try terminal.send("$")
        let stop = try EventDescriptor()
        var received: [UInt8] = []
        while received.last != UInt8(ascii: "$") {
            try #require(try poll(line.raw, within: .seconds(100), unless: stop) == .ready(isHungUp: false))
            var buffer = [UInt8](repeating: 0, count: 4096)
            var span = buffer.mutableSpan
            let count = try line.read(into: &span)
            received += buffer[..<count]
        }
        #expect(received.count < 20 * noise.count)
    }
}
