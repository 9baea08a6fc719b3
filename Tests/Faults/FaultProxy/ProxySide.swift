import LinuxPlatform

/// One end of a connection through the proxy: its socket, and what came from it and waits to pass to the other end.
final class ProxySide {
    let socket: OwnedDescriptor
    var lane = Lane()
    /// Whether it has said its last.
    var hasEnded = false
    /// Whether the other end has been told so.
    var isEndTold = false
    /// Whether the socket took less than there was for it.
    var isFull = false

    init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
}
