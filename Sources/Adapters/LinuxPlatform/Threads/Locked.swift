import Glibc

/// A value protected by a POSIX mutex, for small state that threads and C callbacks share with tasks.
///
/// It has the interface of `Synchronization.Mutex`, whose slow path makes the thread sanitizer report false races.
/// Never hold it across `await`, a callback, or I/O.
///
/// `@unchecked Sendable`: the storage is accessed only under the mutex.
@safe package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: consuming sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "cannot create a mutex: error \(code)")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
