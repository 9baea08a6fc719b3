import CLinux
import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct NonblockingOutputs {
    enum Way: CaseIterable { case pipe, socket }

    /// Two connected ends, the first for reading.
    private func ends(_ way: Way) throws -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        try valueOrSystemError("make ends") {
            switch way {
            case .pipe: unsafe clinux_pipe(&ends)
            case .socket: unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
            }
        }
        return (ends[0], ends[1])
    }

    @Test(arguments: Way.allCases) func givesUpOnAReaderThatHangsAndComesBackToIt(way: Way) throws {
        let (first, second) = try ends(way)
        let reader = OwnedDescriptor(owning: first)
        let writer = OwnedDescriptor(owning: second)
        let output = NonblockingOutput(to: writer.raw)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 999) + [UInt8(ascii: "\n")]
        var taken = 0
        while output.write(line) { taken += 1 }
        #expect(taken > 10)
        #expect(!output.write(line))

        var received = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while received < taken * line.count {
            var span = buffer.mutableSpan
            received += try reader.read(into: &span)
        }
        #expect(received == taken * line.count, "nothing is cut")
        #expect(output.write(line))
        #expect(fcntl(writer.raw, F_GETFL) & O_NONBLOCK == 0, "it is as its owner made it")
    }

    @Test(arguments: Way.allCases) func saysThatTheReaderHasGone(way: Way) throws {
        signal(SIGPIPE, SIG_IGN)
        let (first, second) = try ends(way)
        close(first)
        let writer = OwnedDescriptor(owning: second)
        #expect(!NonblockingOutput(to: writer.raw).write([1]))
    }

    @Test func appendsToAFileWhereOthersAre() throws {
        let folder = try TemporaryFolder()
        let file = try OwnedDescriptor(opening: folder.path("log"), O_RDWR | O_CREAT)
        try file.writeAll([1, 2].span)
        #expect(NonblockingOutput(to: file.raw).write([3]))
        try file.writeAll([4].span)
        #expect(try Array(Data(contentsOf: folder.url.appending(path: "log"))) == [1, 2, 3, 4])
    }
}
