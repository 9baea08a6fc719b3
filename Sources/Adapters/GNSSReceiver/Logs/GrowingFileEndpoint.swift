package import GNSS
import Glibc
import LinuxPlatform
import ReportedText
import Reporting

extension LiveReceiver {
    /// Creates a source of fixes from a file to which another program writes a receiver's output. Only data that is
    /// appended from now on is read. The source follows the file when it is rotated or truncated, and waits for it if
    /// it is missing.
    package static func growingFile(
        _ path: String, decoder: NMEADecoder = NMEADecoder(), timeout: Duration = .seconds(5),
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: GrowingFileEndpoint(path: path), decoder: SentenceDecoder(decoder), timeout: timeout,
            progress: progress, tap: tap)
    }
}

private struct GrowingFileEndpoint: ReceiverEndpoint {
    let path: String
    /// The position from which the file is read when it is next opened. It is the end at first, because older content
    /// isn't live.
    private let nextStart = Locked(GrowingFile.StartPosition.end)

    var name: String { path }

    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let file: GrowingFile
        do throws(SystemError) { file = try GrowingFile(path: path, from: nextStart.withLock { $0 }) } catch {
            guard error.number == ENOENT else {
                throw .failed(.fileUnusable(RecordedLog.openingFault(at: path, error)))
            }
            nextStart.withLock { $0 = .start }
            throw .failed(.fileMissing)
        }
        if let fault = file.fault { throw .failed(.fileUnusable(fault)) }
        return GrowingFileLine(file, nextStart: nextStart)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .file, for: limit)
    }
}

/// A growing file that serves as an open line.
private final class GrowingFileLine: ReceiverLine {
    private let file: GrowingFile
    private let nextStart: Locked<GrowingFile.StartPosition>

    init(_ file: GrowingFile, nextStart: Locked<GrowingFile.StartPosition>) {
        self.file = file
        self.nextStart = nextStart
        nextStart.withLock { $0 = file.position }
    }

    var raw: CInt { file.raw }
    var start: ReceiverStart { .following }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        while true {
            let result = try file.check(into: &buffer)
            nextStart.withLock { $0 = file.position }
            switch result {
            case .bytes(let count): return .bytes(count)
            case .nothingYet: return .nothingYet
            case .writersGone: return .end
            case .truncated, .replaced: continue
            }
        }
    }
}
