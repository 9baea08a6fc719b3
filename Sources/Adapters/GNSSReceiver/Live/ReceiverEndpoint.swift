import Glibc
import LinuxPlatform
import ReportedText
import Reporting

/// Where a live receiver is reached; reopened whenever the line was lost.
protocol ReceiverEndpoint: Sendable {
    /// What the operator calls it, as `/dev/ttyUSB0`.
    var name: String { get }
    /// Whether a line that ended or fell silent is opened again; standard input cannot be.
    var canReopen: Bool { get }

    /// Opens the line; may block, but not once `stop` is signalled.
    func open(unless stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine

    /// Returns the fault of a line that has brought no sentence for `limit`.
    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault

    /// Tells when a line that is not there may have come back; `nil` where nothing does.
    func watchForReturn() -> DirectoryWatch?
}

extension ReceiverEndpoint {
    var canReopen: Bool { true }
    func watchForReturn() -> DirectoryWatch? { nil }
}

/// What can be wrong with an open line.
enum LineTrouble: Sendable, Hashable {
    case silence, noise
    /// Noise that a person could read, and how it begins, where that may be shown.
    case text(ReportedText?)
}

/// Why a line could not be opened.
enum ReceiverOpenError: Error, Sendable, Hashable {
    /// It is tried again.
    case notNow(ReceiverFault)
    case stopped
}

/// An open line, used on the receiver's thread alone; closed with its last reference.
protocol ReceiverLine: AnyObject {
    /// For `poll`.
    var raw: CInt { get }
    /// How the line stands until the first sentence has come.
    var start: ReceiverStart { get }
    /// Takes what is there, without waiting.
    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead

    /// What this opening tries; `nil` for a line that can be opened in one way only.
    var trial: RateTrial? { get }
}

extension ReceiverLine {
    var trial: RateTrial? { nil }
}

enum LineRead: Sendable, Hashable {
    case bytes(Int)
    case nothingYet
    case end
}

extension LineRead {
    /// The meaning of one `read` from a descriptor that does not block.
    init(_ read: () throws(SystemError) -> Int) throws(SystemError) {
        do throws(SystemError) {
            let count = try read()
            self = count == 0 ? .end : .bytes(count)
        } catch {
            guard error.number == EAGAIN else { throw error }
            self = .nothingYet
        }
    }
}
