/// Whether libcurl may send a request once more on a new connection, which it does by itself up to five times.
///
/// Once is enough, and it is the caller who decides whether and when to try again: a server that refuses every stream
/// would be asked six times at once. A request that was written to a connection of earlier exchanges is another matter,
/// for that connection may have been dead; and so is a server that asks for HTTP/1.1.
struct RequestRepetition: Sendable, Hashable {
    private var isConnecting = false
    private var hasAskedOnNewConnection = false
    private var hasChangedProtocol = false
    /// Whether a repetition was wanted and refused.
    private(set) var isRefused = false

    /// A socket was made; false when it is not to be connected.
    ///
    /// `words` are libcurl's about what failed before. It has none for a refused stream, and some where the server
    /// asked for HTTP/1.1.
    mutating func mayConnect(words: String) -> Bool {
        if hasAskedOnNewConnection {
            guard !hasChangedProtocol, !words.isEmpty else {
                isRefused = true
                return false
            }
            (hasChangedProtocol, hasAskedOnNewConnection) = (true, false)
        }
        isConnecting = true
        return true
    }

    /// A connection stands, new or used before, and the request is about to be written to it.
    mutating func connected() { hasAskedOnNewConnection = hasAskedOnNewConnection || isConnecting }
}
