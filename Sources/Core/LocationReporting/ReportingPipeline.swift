/// One vehicle's way from receiver to Fleet Engine: source, intake and uploader side by side.
package struct ReportingPipeline: Sendable {
    private let source: any FixSource
    private let intake: LocationIntake
    private let uploader: Uploader

    package init(source: any FixSource, intake: LocationIntake, uploader: Uploader) {
        (self.source, self.intake, self.uploader) = (source, intake, uploader)
    }

    /// Runs until the source has ended and everything is delivered, or until cancelled.
    ///
    /// - Throws: what is wrong with a recorded log; what was accepted before it is delivered all the same.
    package func run() async throws(FixSourceError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask { await uploader.run() }
            var failure: FixSourceError?
            do throws(FixSourceError) { try await source.run { await intake.take($0) } } catch { failure = error }
            await uploader.finishWhenEmpty()
            return failure
        }
        if let failure, failure.code != .cancelled { throw failure }
    }
}
