import LinuxPlatform

/// The thread that ends connections on which more comes than any answer needs.
///
/// A thread of its own, because libcurl's does not come back while there is something to read. It looks around a few
/// times a second while an exchange is under way, and sleeps otherwise.
final class FloodGuard: Sendable {
    private static let turn = Duration.milliseconds(250)

    let sockets: CurlSockets
    private let end: EventDescriptor

    init() throws(SystemError) { (sockets, end) = (try CurlSockets(), try EventDescriptor()) }

    func start() {
        let (sockets, end) = (sockets, end)
        startThread(named: "curl-guard") {
            while true {
                let pause = sockets.shutFlooded() ? Self.turn : nil
                let descriptor = pause == nil ? sockets.busy.raw : nil
                guard let outcome = try? poll(descriptor, within: pause, unless: end), outcome != .stopped else {
                    return
                }
                sockets.busy.clear()
            }
        }
    }

    func stop() { end.signal() }
}
