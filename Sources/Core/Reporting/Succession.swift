/// Parts of one kind that take each other's place while they run: never two at once.
package actor Succession<Part: Sendable> {
    /// The one in use, or the last one.
    package private(set) var current: Part
    /// Whether `run` is over.
    private(set) var hasEnded = false
    private var isReplaced = false
    /// Ends the part that runs.
    private var replacement: AsyncStream<Never>.Continuation?
    /// Whoever waits for the end of the part that runs.
    private var successors: [AsyncStream<Never>.Continuation] = []

    package init(_ first: Part) { current = first }

    /// Runs one part after another, until one ends that was not replaced, or until cancelled; gives what that one
    /// failed with.
    ///
    /// A part that is replaced is cancelled.
    package func run<Failure: Error>(_ body: @escaping @Sendable (Part) async -> Failure?) async -> Failure? {
        var failure: Failure?
        repeat {
            isReplaced = false
            let (replacements, replacement) = AsyncStream.makeStream(of: Never.self)
            self.replacement = replacement
            failure = await withTaskGroup(of: Failure?.self) { [current] group in
                group.addTask { await body(current) }
                group.addTask {
                    for await _ in replacements {}
                    return nil
                }
                var failure: Failure?
                for await ended in group {
                    group.cancelAll()
                    failure = failure ?? ended
                }
                return failure
            }
            for successor in successors { successor.finish() }
            successors = []
        } while isReplaced && !Task.isCancelled
        (replacement, hasEnded) = (nil, true)
        return failure
    }

    /// Puts `successor` in the place of the current part; returns when that has ended.
    package func replace(with successor: Part) async {
        current = successor
        guard let replacement else { return }
        isReplaced = true
        replacement.finish()
        let (end, ended) = AsyncStream.makeStream(of: Never.self)
        successors.append(ended)
        for await _ in end {}
    }
}
