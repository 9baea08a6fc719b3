import Foundation
import Synchronization

/// One call of a provider: takes the first of its answers, whenever and wherever they come, and notes what is wrong
/// with them.
final class ProviderCall: Sendable {
    typealias Answer = Result<String, any Error>

    private let answers: AsyncStream<Answer>
    private let taker: AsyncStream<Answer>.Continuation
    private let breaches: ContractBreaches
    private let callbacks = Atomic(0)
    /// Whether nobody waits any more.
    private let isOver = Atomic(false)
    private let hasBegun = Atomic(false)
    /// The thread on which the provider is being called; 0 while it is not.
    private let thread = Atomic(0)
    private let lacksCompletionForm = Atomic(false)

    init(_ breaches: ContractBreaches) {
        self.breaches = breaches
        // The oldest is kept: a second answer goes nowhere.
        (answers, taker) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Whether the provider has been called.
    var wasMade: Bool { hasBegun.load(ordering: .acquiring) }

    /// Whether the provider has been called and has not returned.
    var isInside: Bool { thread.load(ordering: .acquiring) != 0 }

    /// Begins; `false` when the time for it is over.
    func enter() -> Bool {
        guard !isOver.load(ordering: .acquiring) else { return false }
        thread.store(Self.currentThread, ordering: .releasing)
        hasBegun.store(true, ordering: .releasing)
        return true
    }

    /// Notes that the completion form has returned; `false` when the provider has none.
    func leave() -> Bool {
        thread.store(0, ordering: .releasing)
        return !lacksCompletionForm.load(ordering: .acquiring)
    }

    /// Takes what the provider called back with; `isFinal`: there is no other form to try.
    func callBack(_ token: String?, _ error: (any Error)?, isFinal: Bool = false) {
        if !isFinal, error as? ProviderContractError == .noCompletionForm {
            lacksCompletionForm.store(true, ordering: .releasing)
            return
        }
        let earlier = callbacks.add(1, ordering: .acquiringAndReleasing).oldValue
        guard earlier == 0 else { return breaches.note(.calledBackTwice) }
        if thread.load(ordering: .acquiring) == Self.currentThread { breaches.note(.calledBackAtOnce) }
        give(token.map(Answer.success) ?? .failure(error ?? ProviderContractError.emptyAnswer))
    }

    /// Nobody waits for an answer any more; one that comes later is used for nothing.
    func end(with error: any Error) { give(.failure(error)) }

    /// Waits for the answer.
    func answer() async -> Answer {
        for await answer in answers { return answer }
        return .failure(CancellationError())
    }

    private func give(_ answer: Answer) {
        isOver.store(true, ordering: .releasing)
        taker.yield(answer)
        taker.finish()
    }

    private static var currentThread: Int { ObjectIdentifier(Thread.current).hashValue | 1 }
}
