/// One vehicle's way from receiver to Fleet Engine: source, intake and uploader side by side.
///
/// Source and uploader can be replaced while it runs: the one in use ends as at a stop, and only then its successor
/// begins.
package struct ReportingPipeline: Sendable {
    private let sources: Succession<any FixSource>
    private let intake: LocationIntake
    private let uploaders: Succession<Uploader>

    package init(source: any FixSource, intake: LocationIntake, uploader: Uploader) {
        (sources, self.intake, uploaders) = (Succession(source), intake, Succession(uploader))
    }

    /// The one in use, or the last one.
    package var uploader: Uploader { get async { await uploaders.current } }

    /// Runs until the source has ended and everything is delivered, or until cancelled.
    ///
    /// `deliver` runs an uploader, and whatever is to end with it.
    ///
    /// - Throws: what is wrong with a recorded log; what was accepted before it is delivered all the same.
    package func run(
        deliver: @escaping @Sendable (Uploader) async -> Void = { await $0.run() }
    ) async throws(FixSourceError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask {
                _ = await uploaders.run { uploader -> Never? in
                    await deliver(uploader)
                    return nil
                }
            }
            let failure = await sources.run { source -> FixSourceError? in
                do throws(FixSourceError) { try await source.run { await intake.take($0) } } catch { return error }
                return nil
            }
            await uploaders.current.finishWhenEmpty()
            return failure
        }
        if let failure, failure.code != .cancelled { throw failure }
    }

    /// Takes fixes from `source` from now on; returns when the one before has ended.
    package func replace(source: any FixSource) async { await sources.replace(with: source) }

    /// Delivers by `uploader` from now on; returns when the one before has ended, after which it sends nothing.
    package func replace(uploader: Uploader) async {
        await uploader.takePlace(of: uploaders.current)
        await intake.use(uploader)
        await uploaders.replace(with: uploader)
        if await sources.hasEnded { await uploader.finishWhenEmpty() }
    }
}
