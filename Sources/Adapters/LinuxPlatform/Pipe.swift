import CLinux
import Glibc

/// A pipe whose reading end never blocks; neither end reaches a child unless it is given to it.
struct Pipe: ~Copyable {
    private let readingEnd: OwnedDescriptor
    let writingEnd: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        try valueOrSystemError("pipe") { unsafe clinux_pipe(&ends) }
        readingEnd = OwnedDescriptor(owning: ends[0])
        writingEnd = OwnedDescriptor(owning: ends[1])
    }

    /// Closes the writing end, so that the stream ends with its last writer.
    consuming func keepReadingEnd() -> OwnedDescriptor { readingEnd }
}
