import Glibc
package import GNSS
import LinuxPlatform
import LocationReporting

extension LiveReceiver {
    /// Fixes from a file that another program writes a receiver's output to: from its end on, then what is appended,
    /// through rotation and truncation. One that is not there is waited for.
    package static func growingFile(
        _ path: String, decoder: NMEADecoder = NMEADecoder(), patience: Duration = .seconds(5),
        tap: (any ReceiverTap)? = nil
    ) -> LiveReceiver {
        LiveReceiver(
            endpoint: GrowingFileEndpoint(path: path), decoder: SentenceDecoder(decoder), patience: patience, tap: tap)
    }
}

/// A growing file by its path.
struct GrowingFileEndpoint: ReceiverEndpoint {
    let path: String
    /// Where the next opening begins: what was in the file before us is of the past, what comes later is not.
    private let beginning = Locked(GrowingFile.Beginning.end)

    init(path: String) { self.path = path }

    var name: String { path }

    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine {
        let file: GrowingFile
        do throws(SystemError) { file = try GrowingFile(path: path, from: beginning.withLock { $0 }) } catch {
            guard error.number == ENOENT else { throw .notNow(RecordedLog.cannotOpen("it", error).detail) }
            beginning.withLock { $0 = .start }
            throw .notNow("is not there; it is read as soon as it is")
        }
        if let problem = file.problem { throw .notNow(problem.detail) }
        let beginning = beginning
        return GrowingFileLine(file) { place in beginning.withLock { $0 = place } }
    }

    func complaint(about trouble: LineTrouble, for limit: Duration) -> String {
        switch trouble {
        case .silence: "nothing new for \(limit.components.seconds) s; check the program that writes it"
        case .noise: "bytes arrive but no NMEA sentence for \(limit.components.seconds) s; check what is written to it"
        }
    }
}

/// A growing file as the loop sees it.
private final class GrowingFileLine: ReceiverLine {
    private let file: GrowingFile
    private let moved: (GrowingFile.Beginning) -> Void

    /// `moved` is called with the place at which another opening would continue.
    init(_ file: GrowingFile, moved: @escaping (GrowingFile.Beginning) -> Void) {
        (self.file, self.moved) = (file, moved)
        moved(file.place)
    }

    var raw: CInt { file.raw }
    var greeting: String { "open, waiting for what is appended" }

    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead {
        while true {
            let look = try file.look(into: &buffer)
            moved(file.place)
            switch look {
            case .bytes(let count): return .bytes(count)
            case .nothingYet: return .nothingYet
            case .writersGone: return .end
            case .truncated, .replaced: continue
            }
        }
    }
}

/// What is made of the bytes of a growing file: fixes, each as soon as its epoch is complete.
///
/// Knows no file and no clock. A pause completes an epoch, as on a live line, but only where the file ends with a line:
/// a program that writes by the block stops in the midst of a sentence.
struct GrowingDecoding: Sendable {
    private let newDecoder: NMEADecoder
    private(set) var decoder: NMEADecoder
    /// The line's time: so long has been waited for bytes. It stops while what is there is read and used.
    private var time = Duration.zero
    private var endsLine = true
    private static let shortestPatience = Duration.milliseconds(10)

    init(decoder: NMEADecoder) { (newDecoder, self.decoder) = (decoder, decoder) }

    mutating func take(_ bytes: Span<UInt8>, _ emit: (Fix) -> Void) {
        guard bytes.count > 0 else { return }
        decoder.decode(bytes, receivedAt: time, emit)
        endsLine = bytes[bytes.count - 1] == UInt8(ascii: "\n") || bytes[bytes.count - 1] == UInt8(ascii: "\r")
    }

    /// Nothing has come for `duration` more.
    mutating func waited(_ duration: Duration, _ emit: (Fix) -> Void) {
        guard endsLine else { return }
        time += duration
        decoder.lineIsIdle(at: time, emit)
    }

    /// How long to wait for bytes at most before that means something.
    var patience: Duration? {
        guard endsLine, let deadline = decoder.idleDeadline else { return nil }
        return max(deadline - time, Self.shortestPatience)
    }

    /// The file has been begun again by its writer: what follows is another recording.
    mutating func startAgain(_ emit: (Fix) -> Void) {
        decoder.finish(emit)
        (decoder, endsLine) = (newDecoder, true)
    }

    /// What the receiver has warned of since it was last asked.
    mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }

    mutating func finish(_ emit: (Fix) -> Void) { decoder.finish(emit) }
}
