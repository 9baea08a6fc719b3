import LinuxPlatform
import TimeAndChance
package import VehicleAuthorization

/// A provider that reads a file, which another program replaces. The file contains the bare token, or JSON like an
/// endpoint's answer.
///
/// The file is read at each request, so that a new file is noticed. A half-written file is rejected, and read again at
/// the next request; the writer can avoid that by renaming a complete file. The file's time of modification serves as
/// the time of issue, so that a token never seems younger than it is.
package final class FileTokenProvider: TokenProvider {
    private let pathTemplate: String
    private let section: String
    private let providerID: String
    private let format: TokenAnswerFormat
    private let wallClock: @Sendable () -> Double
    private let present: @Sendable () -> Double?

    /// Creates a provider that reads the file at `path`, which may contain placeholders such as `{vehicleId}` and
    /// `{tripId}`; their values are percent-encoded. Errors name the `section` of the configuration. `present` returns
    /// the time if something keeps the clock right, otherwise `nil`.
    package init(
        path: String, section: String = "authorization", providerID: String,
        format: TokenAnswerFormat = TokenAnswerFormat(),
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        present: @escaping @Sendable () -> Double? = { nil }
    ) {
        pathTemplate = path
        self.section = section
        self.providerID = providerID
        self.format = format
        self.wallClock = wallClock
        self.present = present
    }

    package func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let path = try Placeholders(providerID: providerID, context: context)
            .expanding(pathTemplate, .percent, name: "\(section).path")
        let content = try await readOnThread(named: "waypost-token", for: "\(section).path") {
            () throws(AuthorizationError) in try SecretFile.read(path, for: "the token", limit: 64 * 1024)
        }
        let answer = try TokenAnswer(
            content.bytes,
            from: .init(
                from: TokenOrigin(
                    .file, path, section: section, tokenKey: format.tokenKey, subject: context.subject),
                localTime: content.modifiedAt, present: present()),
            format: format)
        let life = answer.token.lifetime
        let left = Self.lifetime(life, writtenAt: content.modifiedAt, now: wallClock())
        return answer.withLifetime(left, warning: life != nil && left == nil ? .oldFile : nil)
    }

    /// Returns the remaining part of `lifetime`, which began when the file was written.
    ///
    /// If the token seems to have expired since, or the file seems to come from the future, the system's clock is
    /// probably wrong. In that case the remaining lifetime is unknown, and Fleet Engine decides.
    static func lifetime(_ lifetime: Duration?, writtenAt: Double, now: Double) -> Duration? {
        guard let lifetime, lifetime > .zero else { return lifetime }
        let age = now - writtenAt
        guard age > -1, age < Double(lifetime.components.seconds) else { return nil }
        return lifetime - .milliseconds(Int64(max(0, age) * 1000))
    }
}
