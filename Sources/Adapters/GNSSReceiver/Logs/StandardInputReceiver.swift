package import GNSS
import Glibc
import LinuxPlatform
package import Reporting

/// A source of fixes from standard input. A pipe, a FIFO or a terminal is read as a live receiver, a file as a recorded
/// log.
package struct StandardInputReceiver: FixSource {
    private let decoder: NMEADecoder
    private let descriptor: CInt
    private let progress: (any ReceiverProgress)?
    private let tap: (any ReceiverTap)?

    /// Creates a receiver that reads from `descriptor`, which is neither changed nor closed.
    package init(
        decoder: NMEADecoder = NMEADecoder(), descriptor: CInt = STDIN_FILENO,
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) {
        self.decoder = decoder
        self.descriptor = descriptor
        self.progress = progress
        self.tap = tap
    }

    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        guard descriptor != STDIN_FILENO || RecordedLog.isReadOnce("/dev/stdin") else {
            return try await LogReceiver(paths: ["-"], decoder: decoder).run(deliver: deliver)
        }
        try await LiveReceiver(
            endpoint: StandardInputEndpoint(descriptor: descriptor), decoder: SentenceDecoder(decoder),
            progress: progress, tap: tap
        ).run(deliver: deliver)
    }
}

/// Standard input, which can't be reopened.
private struct StandardInputEndpoint: ReceiverEndpoint {
    let descriptor: CInt

    var name: String { "standard input" }
    var canReopen: Bool { false }

    func open(stoppingOn stop: EventDescriptor) -> any ReceiverLine { BorrowedLine(raw: descriptor) }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .standardInput, for: limit)
    }
}

/// A line on a descriptor that isn't closed here. The descriptor may be blocking, because it is read only after `poll`.
private final class BorrowedLine: ReceiverLine {
    let raw: CInt
    var start: ReceiverStart { .opened }

    init(raw: CInt) { self.raw = raw }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        try LineRead { () throws(SystemError) in
            try unsafe buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
                try valueOrSystemError("read") { unsafe Glibc.read(raw, bytes.baseAddress, bytes.count) }
            }
        }
    }
}
