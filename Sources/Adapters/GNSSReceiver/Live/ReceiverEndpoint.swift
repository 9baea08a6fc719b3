import Glibc
import LinuxPlatform
import ReportedText
import Reporting

/// The endpoint of a live receiver, such as a serial port, a server or a file. The receiver's line is opened there, and
/// reopened whenever it is lost.
protocol ReceiverEndpoint: Sendable {
    /// The name to show operators, such as `/dev/ttyUSB0`.
    var name: String { get }
    /// Whether a line that ended or went silent can be reopened; standard input can't.
    var canReopen: Bool { get }

    /// Opens the line. May block, but returns soon after `stop` is signalled.
    func open(stoppingOn stop: EventDescriptor) throws(ReceiverOpenError) -> any ReceiverLine

    /// Returns the fault to report for a line on which no sentence has arrived for `limit`.
    func fault(of trouble: LineTrouble, for limit: Duration) -> ReceiverFault

    /// Returns a new watch that notices when the line's missing device is back; `nil` if the device can't be watched.
    func makeDeviceWatch() -> DirectoryWatch?
}

extension ReceiverEndpoint {
    var canReopen: Bool { true }
    func makeDeviceWatch() -> DirectoryWatch? { nil }
}

/// The reason why no sentences arrive on an open line, judged by its bytes.
enum LineTrouble: Sendable, Hashable {
    case silence, noise
    /// Readable text arrives. The value is its beginning; `nil` if that must not be shown.
    case text(ReportedText?)
}

/// The reason why a line wasn't opened.
enum ReceiverOpenError: Error, Sendable, Hashable {
    /// A fault that may be temporary. The receiver tries again to open the line.
    case failed(ReceiverFault)
    case stopped
}

/// An open line: a serial port, a socket, a pipe or a file on which a receiver's output arrives. It is used only on the
/// receiver's thread, and is closed when its last reference is released.
protocol ReceiverLine: AnyObject {
    /// The descriptor for `poll`.
    var raw: CInt { get }
    /// The state to report until the first sentence.
    var start: ReceiverStart { get }
    /// Reads the available bytes, without blocking. Returns their number, or that there are none.
    func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> LineRead

    /// The trial of a baud rate that this opening serves; `nil` if the baud rate isn't searched for.
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
    /// Calls `read` on a non-blocking descriptor and interprets the result.
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
