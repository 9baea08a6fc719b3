@_exported public import Operations
import LinuxPlatform
public import VehicleAuthorization

/// The service, which reports one vehicle's position from a receiver to Fleet Engine until it is stopped.
///
/// ```swift
/// let configuration = try Configuration(file: "/etc/waypost/config.json")
/// try await Agent(configuration).run()
/// ```
///
/// Pass `authorization` to use your own token provider instead of the configured one. The agent caches the provider's
/// tokens, as the Driver SDK does. It requests a new token after half of the current token's lifetime, or after
/// `forgetToken`. If your provider has its own cache, use `.askingAtEveryUpdate`.
public struct Agent: Sendable {
    private let configuration: Configuration
    private let authorization: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy
    /// The token cache; `nil` while the agent isn't running.
    private let tokens = Locked<CachedAuthorization?>(nil)
    private let recordingDirectory: String?

    /// Creates an agent for `configuration`. Opens neither the receiver nor the outbox; `run` does.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - authorization: the provider to use instead of the configured one.
    ///   - cachePolicy: the rules for when the provider is asked for a token.
    ///   - recordingDirectory: the directory in which to record the run; `nil` records nothing. A recording contains
    ///     the receiver's bytes with their times and the log, but no tokens. It takes at most 32 MiB.
    public init(
        _ configuration: Configuration, authorization: (any VehicleAuthorization)? = nil,
        cachePolicy: CachePolicy = CachePolicy(), recordingDirectory: String? = nil
    ) {
        self.configuration = configuration
        self.authorization = authorization
        self.cachePolicy = cachePolicy
        self.recordingDirectory = recordingDirectory
    }

    /// Reports positions until the task is cancelled, then sends the vehicle's final state and closes the outbox.
    ///
    /// If a stage of the agent stalls, the agent records the reason next to the outbox. It then ends the process with
    /// status 1, so that the service manager restarts it.
    ///
    /// - Throws: an error if the service can't start. A missing receiver, network or token isn't an error.
    public func run() async throws(AgentError) {
        var last: Handover?
        repeat { last = try await run(reloading: nil, after: last) } while last != nil
    }

    /// Runs until the task is cancelled, `source` requests a reload, or certificate files are replaced. After a reload
    /// or a replacement, returns the handover to the next run, otherwise `nil`. `last` is the handover from the
    /// previous run.
    package func run(
        reloading source: ReloadSource?, after last: Handover?
    ) async throws(AgentError) -> Handover? {
        let run = try await ServiceRun(
            configuration,
            ServiceRun.Options(
                ownProvider: authorization, cachePolicy: cachePolicy, recordingDirectory: recordingDirectory,
                reloads: source, last: last))
        tokens.withLock { $0 = run.authorization }
        defer { tokens.withLock { $0 = nil } }
        return try await run.runUntilEnd()
    }

    /// Discards the current token, so that the next update requests a new one from the provider. Call it, for example,
    /// when a driver signs in or out.
    ///
    /// An update that is already being sent keeps its token. Does nothing while the agent isn't running, because it
    /// holds no token then.
    public func forgetToken() async { await tokens.withLock { $0 }?.forgetTokens() }
}
