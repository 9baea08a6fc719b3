/// The first of the answers that a completion handler gets, whenever and wherever they come.
final class FirstAnswer: Sendable {
    private let answers: AsyncStream<Result<String, any Error>>
    private let taker: AsyncStream<Result<String, any Error>>.Continuation

    init() {
        // The oldest is kept: a second answer goes nowhere.
        (answers, taker) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func give(_ token: String?, _ error: (any Error)?) {
        if let token {
            taker.yield(.success(token))
        } else {
            taker.yield(.failure(error ?? ProviderContractError.emptyAnswer))
        }
        taker.finish()
    }

    /// Waits for the answer.
    ///
    /// - Throws: the provider's error, or `CancellationError` when the task is cancelled first.
    func value() async throws -> String {
        for await answer in answers { return try answer.get() }
        throw CancellationError()
    }
}
