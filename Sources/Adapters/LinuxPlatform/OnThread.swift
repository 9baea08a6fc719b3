/// Runs `body`, which blocks, on a thread of its own and answers with its result.
///
/// Cancelling the task does not end `body`; a body that can take long needs a way of its own.
package func onThread<Value: Sendable>(
    named name: String, _ body: @escaping @Sendable () -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        startThread(named: name) { continuation.resume(returning: body()) }
    }
}
