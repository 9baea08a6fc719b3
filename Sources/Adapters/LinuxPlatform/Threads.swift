import CLinux
import Glibc

/// Starts a thread for calls that block; in a task they would starve the shared pool.
///
/// When the system has no room for one it is tried again for five seconds; then the process ends with words.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body)).toOpaque()
    var thread = pthread_t()
    var code = unsafe pthread_create(&thread, nil, runThreadBody, context)
    for _ in 0..<50 where code == EAGAIN {
        _ = poll(nil, 0, 100)
        code = unsafe pthread_create(&thread, nil, runThreadBody, context)
    }
    guard code == 0 else {
        LastLine.end(
            "thread \(name) cannot be started: \(unsafe String(cString: strerror(code))); raise the limits of memory "
                + "and processes (ulimit -v, -d and -u, TasksMax=)")
    }
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
