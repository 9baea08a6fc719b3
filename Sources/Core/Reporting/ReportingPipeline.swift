/// One vehicle's data flow from receiver to Fleet Engine: source, intake and uploader at the same time.
package struct ReportingPipeline: Sendable {
    private let source: any FixSource
    private let intake: LocationIntake
    package let uploader: Uploader

    package init(source: any FixSource, intake: LocationIntake, uploader: Uploader) {
        self.source = source
        self.intake = intake
        self.uploader = uploader
    }

    /// Runs until the source has ended and everything is delivered, or until cancelled.
    ///
    /// `deliver` runs the uploader, and what must end with it.
    ///
    /// - Throws: what is wrong with a recorded log, after what was accepted before has been delivered.
    package func run(
        deliver: @escaping @Sendable (Uploader) async -> Void = { await $0.run() }
    ) async throws(FixSourceError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask { await deliver(uploader) }
            var failure: FixSourceError?
            do throws(FixSourceError) { try await source.run { await intake.take($0) } } catch { failure = error }
            await uploader.finishWhenEmpty()
            return failure
        }
        if let failure, failure.code != .cancelled { throw failure }
    }
}
