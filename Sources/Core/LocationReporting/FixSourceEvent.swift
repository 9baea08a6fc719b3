package import GNSS

/// What a `FixSource` tells.
package enum FixSourceEvent: Sendable, Hashable {
    case fix(Fix)
    /// The receiver's state has changed.
    case state(ReceiverState)
    /// The receiver says or shows something that the operator should know; the same one may come again and again.
    case warning(ReceiverWarning)
    /// How far a recorded log has been read; `totalBytes` is `nil` when it cannot be known.
    case progress(bytesRead: Int64, totalBytes: Int64?)
}
