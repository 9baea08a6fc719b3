import LinuxPlatform
import TimeAndChance
package import VehicleAuthorization

/// Takes the token from a file that another program replaces: the bare token, or JSON as an endpoint would answer.
///
/// The file is read each time it is asked, so that a new one is seen. One that is caught half written is rejected, and
/// read again when the cache asks next; whoever writes it avoids that with a rename. When it was written is taken as
/// the moment of issue, so that a token does not seem younger than it is.
package final class FileTokenProvider: TokenProvider {
    private let pathTemplate: String
    private let section: String
    private let providerID: String
    private let format: TokenAnswerFormat
    private let wallClock: @Sendable () -> Double
    private let present: @Sendable () -> Double?

    /// `path` may hold placeholders (`{vehicleId}`, `{tripId}` and their like), percent-encoded when replaced; errors
    /// name the `section` of the configuration that has it. `present` is the clock while something keeps it right.
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
        return answer.living(left, warning: life != nil && left == nil ? .oldFile : nil)
    }

    /// What is left of `lifetime`, which began when the file was written.
    ///
    /// A file that seems older than its token, or to come from the future, says more about the system's clock than
    /// about the token: its life counts as unknown, and Fleet Engine judges.
    static func lifetime(_ lifetime: Duration?, writtenAt: Double, now: Double) -> Duration? {
        guard let lifetime, lifetime > .zero else { return lifetime }
        let age = now - writtenAt
        guard age > -1, age < Double(lifetime.components.seconds) else { return nil }
        return lifetime - .milliseconds(Int64(max(0, age) * 1000))
    }
}
