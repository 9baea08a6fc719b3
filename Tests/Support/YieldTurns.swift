/// Lets other tasks and threads have their turns until `condition` holds, or the test is out of time: one that waits on
/// would keep its thread from all tests after it.
package func yieldTurns(until condition: () async throws -> Bool) async rethrows {
    while try await !condition(), !Task.isCancelled { await Task.yield() }
}
