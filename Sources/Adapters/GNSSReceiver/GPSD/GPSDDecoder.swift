import GNSS

/// gpsd's JSON objects, a line each; sentences between them are passed over.
struct GPSDDecoder: LineDecoder {
    private var splitter = LineSplitter()
    private var session: GPSDSession

    init(_ session: GPSDSession = GPSDSession()) { self.session = session }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
        var proofs = 0
        splitter.take(bytes) { line in
            if let report = GPSDReport(line), session.take(report, at: now, emit) { proofs += 1 }
        }
        return proofs
    }

    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) { session.lineIsIdle(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { session.finish(emit) }
    mutating func takeWarning() -> ReceiverWarning? { session.takeWarning() }
    mutating func takeSky(at now: Duration) -> Sky? { session.takeSky() }
    var idleDeadline: Duration? { session.idleDeadline }
    var complaint: String? { session.complaint }
}

/// Cuts a stream of bytes into lines of bounded length, wherever the reads cut it.
///
/// A longer line is passed over to its end.
struct LineSplitter: Sendable {
    /// gpsd's own lines end at 10 KiB.
    private static let longestLine = 1 << 16

    private var line: [UInt8] = []
    private var isPassingOver = false

    /// Takes the next bytes and hands out every line that ends in them, without its line feed.
    mutating func take(_ bytes: Span<UInt8>, _ deliver: ([UInt8]) -> Void) {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                if !isPassingOver { deliver(line) }
                line.removeAll(keepingCapacity: true)
                isPassingOver = false
            } else if line.count == Self.longestLine {
                line.removeAll()
                isPassingOver = true
            } else if !isPassingOver {
                line.append(byte)
            }
        }
    }
}
