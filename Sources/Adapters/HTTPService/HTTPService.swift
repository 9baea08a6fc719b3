package import LinuxPlatform

/// A small HTTP/1.1 server that only clients on this machine can reach. It serves the agent's status and the simulator.
///
/// The service listens from its creation, so its address is known before `run` is called. One thread owns all sockets;
/// handlers run as child tasks of `run`. Cancelling `run` closes every connection at once.
package struct HTTPService: Sendable {
    /// A function that returns the response to a request. It is called concurrently, but at most once at a time per
    /// connection.
    package typealias Handler = @Sendable (ServedRequest) async -> ServedResponse

    private let listener: ListeningSocket
    private let mailbox: ServiceMailbox
    private let limits: HTTPServiceLimits
    private let handler: Handler

    /// Creates a service that listens on `address`.
    ///
    /// - Throws: an error if the address is in use or not permitted.
    package init(
        listeningOn address: LocalAddress, limits: HTTPServiceLimits = HTTPServiceLimits(), handler: @escaping Handler
    ) throws(ListenError) {
        listener = try ListeningSocket(on: address)
        do { mailbox = try ServiceMailbox() } catch { throw .system(address, error) }
        self.limits = limits
        self.handler = handler
    }

    /// The address of the service, with the actual port if port 0 was requested.
    package var address: LocalAddress { listener.address }

    /// Serves requests until the task is cancelled, then stops listening. Must be called exactly once.
    package func run() async {
        let (arrivals, continuation) = AsyncStream.makeStream(
            of: ServiceLoop.Arrival.self, bufferingPolicy: .bufferingOldest(limits.connections))
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                // The thread has its own child task, which the group awaits. On cancellation, the loop below ends
                // before the sockets have been closed.
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
                    group.addTask {
                        let response = await handler(arrival.request)
                        if response.delay > .zero { try? await Task.sleep(for: response.delay) }
                        mailbox.answer(response, on: arrival.connection)
                    }
                }
                group.cancelAll()
            }
        } onCancel: {
            mailbox.stop()
        }
    }
}

/// A mailbox that passes responses from the tasks of the handlers to the thread that owns the sockets.
final class ServiceMailbox: Sendable {
    struct Messages: Sendable {
        var answers: [(connection: Int, response: ServedResponse)] = []
        var isStopped = false
    }

    private let messages = Locked(Messages())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// The file descriptor for `poll`, which is readable while there are messages.
    var raw: CInt { wakeUp.raw }

    func answer(_ response: ServedResponse, on connection: Int) {
        messages.withLock { $0.answers.append((connection, response)) }
        wakeUp.signal()
    }

    func stop() {
        messages.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Returns the messages that have arrived since the previous call.
    func collect() -> Messages {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages.answers = [] }
            return messages
        }
    }
}
