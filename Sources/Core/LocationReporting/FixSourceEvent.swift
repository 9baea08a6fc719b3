package import GNSS

/// What a `FixSource` tells.
package enum FixSourceEvent: Sendable, Hashable {
    case fix(Fix)
    /// The receiver's state has changed.
    case state(ReceiverState)
    /// How far a recorded log has been read; `totalBytes` is `nil` when it cannot be known.
    case progress(bytesRead: Int64, totalBytes: Int64?)
}
