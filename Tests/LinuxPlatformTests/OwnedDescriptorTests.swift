import Glibc
import LinuxPlatform
import Testing

/// Creates a pipe. The caller closes both ends.
private func makePipe() throws(SystemError) -> (CInt, CInt) {
    var ends: [CInt] = [0, 0]
    try valueOrSystemError("pipe") { unsafe pipe(&ends) }
    return (ends[0], ends[1])
}

@Suite(.serialized) struct OwnedDescriptors {
    @Test func areClosedWithTheirOwner() throws {
        let raw: CInt
        do {
            let descriptor = try OwnedDescriptor(opening: "/dev/null", O_RDONLY)
            raw = descriptor.raw
            #expect(fcntl(raw, F_GETFD) == FD_CLOEXEC)
        }
        // Another test may have been given the number since, but not for the same file.
        #expect(linkTarget(ofDescriptor: raw) != "/dev/null")
    }

    @Test func areNotClosedAfterRelease() throws {
        let raw = try OwnedDescriptor(opening: "/dev/null", O_RDONLY).release()
        #expect(fcntl(raw, F_GETFD) == FD_CLOEXEC)
        close(raw)
    }

    @Test func writeAndReadBytes() throws {
        let (first, second) = try makePipe()
        let output = OwnedDescriptor(owning: first)
        let input = OwnedDescriptor(owning: second)
        try input.writeAll([1, 2, 3].span)
        var buffer = [UInt8](repeating: 0, count: 8)
        var span = buffer.mutableSpan
        let count = try output.read(into: &span)
        #expect(Array(buffer[..<count]) == [1, 2, 3])
    }

    @Test func nameThePathAndCauseOfAFailedOpen() {
        let error = #expect(throws: SystemError.self) { _ = try OwnedDescriptor(opening: "/no/such", O_RDONLY) }
        #expect(error == SystemError(call: "open /no/such", number: ENOENT))
        #expect(error?.description == "open /no/such: No such file or directory")
    }

    private func linkTarget(ofDescriptor raw: CInt) -> String? {
        var bytes = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink("/proc/self/fd/\(raw)", &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

@Suite struct DescriptorPolling {
    private let stop: EventDescriptor

    init() throws { stop = try EventDescriptor() }

    @Test func endsAfterItsTime() throws {
        let start = MonotonicTime.now
        #expect(try poll(nil, within: .milliseconds(5), unless: stop) == .timedOut)
        #expect(MonotonicTime.now - start >= .milliseconds(5))
    }

    @Test func endsWhenThereIsDataToRead() throws {
        let (first, second) = try makePipe()
        let output = OwnedDescriptor(owning: first)
        let input = OwnedDescriptor(owning: second)
        #expect(try poll(output.raw, within: .zero, unless: stop) == .timedOut)
        try input.writeAll([1].span)
        #expect(try poll(output.raw, within: nil, unless: stop) == .ready(isHungUp: false))
        #expect(try poll(input.raw, for: .writing, within: nil, unless: stop) == .ready(isHungUp: false))
    }

    @Test func reportsAHangUp() throws {
        let (first, second) = try makePipe()
        let output = OwnedDescriptor(owning: first)
        close(second)
        #expect(try poll(output.raw, within: nil, unless: stop) == .ready(isHungUp: true))
    }

    @Test func prefersTheStopEventUntilItIsCleared() throws {
        let (first, second) = try makePipe()
        let output = OwnedDescriptor(owning: first)
        let input = OwnedDescriptor(owning: second)
        try input.writeAll([1].span)
        stop.signal()
        stop.signal()
        #expect(try poll(output.raw, within: nil, unless: stop) == .stopped)
        stop.clear()
        #expect(try poll(output.raw, within: nil, unless: stop) == .ready(isHungUp: false))
    }

    @Test func isStoppedFromAnotherThread() throws {
        let stop = stop
        startThread(named: "stopper") { stop.signal() }
        #expect(try poll(nil, within: nil, unless: stop) == .stopped)
    }
}
