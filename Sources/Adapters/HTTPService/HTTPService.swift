package import LinuxPlatform

/// A small HTTP/1.1 server for this machine only: the agent's status, and the simulator.
///
/// It listens from the moment it exists, so that its address is known before `run`. All sockets live on one thread;
/// handlers run as child tasks of `run`. Cancelling `run` closes every connection at once.
package struct HTTPService: Sendable {
    /// Answers one request; called concurrently, once for each open connection at most.
    package typealias Handler = @Sendable (ServedRequest) async -> ServedResponse

    private let listener: ListeningSocket
    private let mailbox: ServiceMailbox
    private let limits: HTTPServiceLimits
    private let handler: Handler

    /// Listens on `address`.
    ///
    /// - Throws: when the address is taken, or may not be used.
    package init(
        listeningOn address: LocalAddress, limits: HTTPServiceLimits = HTTPServiceLimits(), handler: @escaping Handler
    ) throws(ListenError) {
        listener = try ListeningSocket(on: address)
        do { mailbox = try ServiceMailbox() } catch { throw .system(address, error) }
        self.limits = limits
        self.handler = handler
    }

    /// Where clients find the service; the port is the real one, also when port 0 was asked for.
    package var address: LocalAddress { listener.address }

    /// Serves until the task is cancelled; afterwards nothing listens any more. To be called once.
    package func run() async {
        let (arrivals, continuation) = AsyncStream.makeStream(
            of: ServiceLoop.Arrival.self, bufferingPolicy: .bufferingOldest(2 * limits.connections))
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                // A child of its own, because cancellation ends reading the arrivals before the sockets are closed.
                group.addTask {
                    await withCheckedContinuation { ended in
                        startThread(named: "http-service") {
                            var loop = ServiceLoop(
                                listener: listener, limits: limits, mailbox: mailbox, arrivals: continuation)
                            loop.run()
                            ended.resume()
                        }
                    }
                }
                for await arrival in arrivals {
                    group.addTask { mailbox.answer(await handler(arrival.request), on: arrival.connection) }
                }
                group.cancelAll()
            }
        } onCancel: {
            mailbox.stop()
        }
    }
}

/// How the tasks that handle requests reach the thread that owns the sockets.
final class ServiceMailbox: Sendable {
    struct Messages: Sendable {
        var answers: [(connection: Int, response: ServedResponse)] = []
        var isStopped = false
    }

    private let messages = Locked(Messages())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// For `poll`: readable when there are messages.
    var raw: CInt { wakeUp.raw }

    func answer(_ response: ServedResponse, on connection: Int) {
        messages.withLock { $0.answers.append((connection, response)) }
        wakeUp.signal()
    }

    func stop() {
        messages.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Everything since the last time.
    func collect() -> Messages {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages.answers = [] }
            return messages
        }
    }
}
