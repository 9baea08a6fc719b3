import LinuxPlatform

/// An end of a connection through the proxy: its socket, and the bytes that wait to pass from it to the other end.
final class ProxySide {
    let socket: OwnedDescriptor
    var lane = Lane()
    /// Whether this side has sent its end of stream.
    var hasEnded = false
    /// Whether this side's end of stream has been forwarded to the other side.
    var isEndForwarded = false
    /// Whether the socket accepted less than was available.
    var isFull = false

    init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
}
