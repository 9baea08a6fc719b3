/// What has become of a growing file that has been read to its end: a decision, as `tail -F` makes it.
enum GrowthChange: Sendable, Hashable {
    case none
    /// It is shorter than what has been read of it: its writer began it again.
    case truncated
    /// Another file is in its place: it was rotated away.
    case replaced

    /// - Parameters:
    ///   - offset: how far the open file has been read.
    ///   - open: the open file.
    ///   - there: what lies at its path; `nil` when nothing does, which may be for the moment only.
    init(readTo offset: Int64, of open: FileMark, there: FileMark?) {
        if let there, !there.isSameFile(as: open) {
            self = .replaced
        } else {
            self = open.size < offset ? .truncated : .none
        }
    }
}
