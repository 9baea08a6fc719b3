package import GNSS
import Glibc
import LinuxPlatform
import ReportedText
import Reporting

extension LiveReceiver {
    /// Fixes from a file that another program writes a receiver's output to: from its end on, then what is appended,
    /// through rotation and truncation. One that is not there is waited for.
    package static func growingFile(
        _ path: String, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        progress: (any ReceiverProgress)? = nil, tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: GrowingFileEndpoint(path: path), decoder: SentenceDecoder(decoder), patience: patience,
            progress: progress, tap: tap)
    }
}

/// A growing file by its path.
private struct GrowingFileEndpoint: ReceiverEndpoint {
    let path: String
    /// Where the next opening begins: what was in the file before us is of the past, what comes later is not.
    private let beginning = Locked(GrowingFile.Beginning.end)

    var name: String { path }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let file: GrowingFile
        do throws(SystemError) { file = try GrowingFile(path: path, from: beginning.withLock { $0 }) } catch {
            guard error.number == ENOENT else {
                throw .notNow(.fileUnusable(RecordedLog.openingFault(path, error)))
            }
            beginning.withLock { $0 = .start }
            throw .notNow(.fileMissing)
        }
        if let fault = file.fault { throw .notNow(.fileUnusable(fault)) }
        return GrowingFileLine(file, next: beginning)
    }

    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault {
        ReceiverFault(trouble, on: .file, for: limit)
    }
}

/// A growing file as the loop sees it.
private final class GrowingFileLine: ReceiverLine {
    private let file: GrowingFile
    /// Where another opening continues.
    private let next: Locked<GrowingFile.Beginning>

    init(_ file: GrowingFile, next: Locked<GrowingFile.Beginning>) {
        self.file = file
        self.next = next
        next.withLock { $0 = file.place }
    }

    var raw: CInt { file.raw }
    var start: ReceiverStart { .following }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        while true {
            let look = try file.look(into: &buffer)
            next.withLock { $0 = file.place }
            switch look {
            case .bytes(let count): return .bytes(count)
            case .nothingYet: return .nothingYet
            case .writersGone: return .end
            case .truncated, .replaced: continue
            }
        }
    }
}
