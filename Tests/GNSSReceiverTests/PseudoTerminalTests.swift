import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite(.timeLimit(.minutes(1))) struct PseudoTerminals {
    @Test func takeWhatNobodyIsThereToRead() throws {
        let terminal = try PseudoTerminal()
        do { _ = try SerialLine(path: terminal.path, baudRate: 9600) }  // opened, and closed again
        let noise = [UInt8](repeating: 0x55, count: 10_000)
        for _ in 0..<20 { try terminal.send(noise) }  // many times what a line keeps
        let line = try SerialLine(path: terminal.path, baudRate: 9600)
        try terminal.send("$")
        withExtendedLifetime(line) {}
    }
}
