import LinuxPlatform
import TimeAndRandomness
package import VehicleAuthorization

/// A provider that reads the token from a file, which another program keeps up to date. The file contains the bare
/// token, or JSON in the form of an endpoint's answer.
///
/// The file is read at each request, so that a new token is used at once. A half-written file is rejected, and read
/// again at the next request. To avoid the rejection, the program can write a temporary file and rename it. The token
/// counts as issued when the file was last modified, so that its remaining lifetime isn't overestimated.
package final class FileTokenProvider: TokenProvider {
    private let pathTemplate: String
    private let section: String
    private let providerID: String
    private let format: TokenAnswerFormat
    private let wallClock: @Sendable () -> Double
    private let synchronizedClock: @Sendable () -> Double?

    /// Creates a provider that reads the file at `path`. The path may contain placeholders such as `{vehicleId}` and
    /// `{tripId}`, whose values are percent-encoded. Errors name `section`, the section of the configuration.
    /// `synchronizedClock` returns the time if the clock is synchronised, otherwise `nil`.
    package init(
        path: String, section: String = "authorization", providerID: String,
        format: TokenAnswerFormat = TokenAnswerFormat(),
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        synchronizedClock: @escaping @Sendable () -> Double? = { nil }
    ) {
        pathTemplate = path
        self.section = section
        self.providerID = providerID
        self.format = format
        self.wallClock = wallClock
        self.synchronizedClock = synchronizedClock
    }

    package func fetchAnswer(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let path = try Placeholders(providerID: providerID, context: context)
            .expanding(pathTemplate, encoding: .percent, key: "\(section).path")
        let content = try await readOnThread(named: "waypost-token", for: "\(section).path") {
            () throws(AuthorizationError) in try SecretFile.read(path, for: "the token", limit: 64 * 1024)
        }
        let answer = try TokenAnswer(
            content.bytes,
            from: .init(
                source: TokenOrigin(
                    .file, path, section: section, tokenKey: format.tokenKey, subject: context.subject),
                localTime: content.modifiedAt, present: synchronizedClock()),
            format: format)
        let life = answer.token.lifetime
        let left = Self.remainingLifetime(of: life, writtenAt: content.modifiedAt, now: wallClock())
        return answer.withLifetime(left, warning: life != nil && left == nil ? .outdatedFile : nil)
    }

    /// Returns how much of `lifetime` is left at `now`. The lifetime began when the file was written.
    ///
    /// If the token seems to have expired since then, or the file seems to have been written in the future, this
    /// machine's clock is probably wrong. In that case the remaining lifetime is unknown, so the result is `nil`. Fleet
    /// Engine then decides whether the token is still valid.
    static func remainingLifetime(of lifetime: Duration?, writtenAt: Double, now: Double) -> Duration? {
        guard let lifetime, lifetime > .zero else { return lifetime }
        let age = now - writtenAt
        guard age > -1, age < Double(lifetime.components.seconds) else { return nil }
        return lifetime - .milliseconds(Int64(max(0, age) * 1000))
    }
}
