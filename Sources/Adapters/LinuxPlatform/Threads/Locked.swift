import Glibc

/// A value that is protected by a POSIX mutex. Use it for small state that threads and C callbacks share with tasks.
///
/// Its interface is that of `Synchronization.Mutex`, which isn't used because the thread sanitizer reports false races
/// in its slow path. Never hold the lock across `await`, a callback, or I/O.
///
/// `@unchecked Sendable` is safe because the storage is accessed only while the mutex is locked.
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
