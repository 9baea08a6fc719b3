import CLinux
import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

@Suite struct SerialLines {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    @Test(arguments: [
        (4800, B4800), (9600, B9600), (19_200, B19200), (38_400, B38400), (57_600, B57600), (115_200, B115200),
        (230_400, B230400), (460_800, B460800), (921_600, B921600),
    ])
    func useTheirBaudRate(baudRate: Int, speed: CInt) throws {
        let line = try SerialLine(path: terminal.path, baudRate: baudRate)
        var settings = termios()
        #expect(unsafe tcgetattr(line.raw, &settings) == 0)
        #expect(unsafe cfgetispeed(&settings) == speed_t(speed))
        #expect(unsafe cfgetospeed(&settings) == speed_t(speed))
    }

    @Test func passEveryByteUnchangedAndEchoNone() throws {
        let line = try SerialLine(path: terminal.path, baudRate: 9600)
        let everyByte = Array(UInt8.min...UInt8.max)
        try terminal.send(everyByte)
        var received: [UInt8] = []
        let stop = try EventDescriptor()
        while received.count < everyByte.count {
            #expect(try poll(line.raw, within: .seconds(100), unless: stop) == .ready(isHungUp: false))
            var buffer = [UInt8](repeating: 0, count: 64)
            var span = buffer.mutableSpan
            let count = try line.read(into: &span)
            received += buffer[..<count]
        }
        #expect(received == everyByte)
        var settings = termios()
        #expect(unsafe tcgetattr(line.raw, &settings) == 0)
        #expect(settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0)
        #expect(settings.c_cflag & tcflag_t(CLOCAL | CREAD | CS8) == tcflag_t(CLOCAL | CREAD | CS8))
        #expect(settings.c_cflag & (tcflag_t(CSTOPB | PARENB | HUPCL) | tcflag_t(CRTSCTS)) == 0)
        #expect(settings.c_iflag & tcflag_t(IXON | IXOFF | ICRNL) == 0)
    }

    @Test func haveOneOwnerAtATime() throws {
        let error: SerialLineError?
        do {
            let line = try SerialLine(path: terminal.path, baudRate: 9600)
            error = #expect(throws: SerialLineError.self) { _ = try SerialLine(path: terminal.path, baudRate: 9600) }
            withExtendedLifetime(line) {}
        }
        guard case .busy(_, let holders) = error else { return #expect(error == nil) }
        #expect(holders.map(\.processID) == [getpid()])
        _ = try SerialLine(path: terminal.path, baudRate: 9600)
    }

    @Test func findTheProcessesThatHaveADeviceOpen() throws {
        let descriptor = try OwnedDescriptor(opening: terminal.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        #expect(HoldingProcess.all(withDevice: terminal.path).map(\.processID) == [getpid()])
        #expect(HoldingProcess.others(withDevice: terminal.path) == [])
        #expect(HoldingProcess.all(withDevice: "/dev/no-such-receiver") == [])
        _ = consume descriptor
    }
}
