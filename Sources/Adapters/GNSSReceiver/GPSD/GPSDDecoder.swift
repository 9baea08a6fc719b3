import GNSS

/// gpsd's JSON objects, a line each; sentences between them are passed over.
struct GPSDDecoder: LineDecoder {
    private var splitter = LineSplitter()
    private var session: GPSDSession

    init(_ session: GPSDSession = GPSDSession()) { self.session = session }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration) -> LineContent {
        var content = LineContent()
        splitter.take(bytes) { line in
            guard let report = GPSDReport(line) else { return }
            if session.take(report, at: now, { content.newestFix = $0 }) { content.sentences += 1 }
        }
        return content
    }

    mutating func lineIsIdle(at now: Duration) -> Fix? {
        var newest: Fix?
        session.lineIsIdle(at: now) { newest = $0 }
        return newest
    }

    mutating func finish() -> Fix? {
        var newest: Fix?
        session.finish { newest = $0 }
        return newest
    }

    mutating func takeWarning() -> ReceiverWarning? { session.takeWarning() }

    var idleDeadline: Duration? { session.idleDeadline }
    var complaint: String? { session.complaint }
}
