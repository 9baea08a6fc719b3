import CLinux
import Glibc

/// Starts a thread for calls that block; in a task they would starve the shared pool.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body)).toOpaque()
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, runThreadBody, context)
    precondition(code == 0, "cannot start thread \(name): \(unsafe String(cString: strerror(code)))")
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    unsafe clinux_set_thread_name(pthread_self(), String(body.name.prefix(15)))  // the kernel's limit
    body.run()
    return nil
}
