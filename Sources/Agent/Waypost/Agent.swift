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
/// Pass `authorization` to use your own provider instead of the configured one. The agent caches the provider's tokens
/// by the rules of the Driver SDK: it requests a new token when one is due, or after `forgetToken`. If your provider
/// has its own cache, use `.askingAtEveryUpdate`.
public struct Agent: Sendable {
    private let configuration: Configuration
    private let authorization: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy
    /// The token cache; `nil` while the agent isn't running.
    private let tokens = Locked<CachedAuthorization?>(nil)
    private let recordingDirectory: String?

    /// Creates an agent for `configuration`. Nothing is opened before `run`.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - authorization: provides tokens instead of the configured provider.
    ///   - cachePolicy: determines when the provider is asked for a token.
    ///   - recordingDirectory: the directory in which the run is recorded: the receiver's bytes with their times, and
    ///     the log; at most 32 MiB, without tokens. `nil` records nothing.
    public init(
        _ configuration: Configuration, authorization: (any VehicleAuthorization)? = nil,
        cachePolicy: CachePolicy = CachePolicy(), recordingDirectory: String? = nil
    ) {
        self.configuration = configuration
        self.authorization = authorization
        self.cachePolicy = cachePolicy
        self.recordingDirectory = recordingDirectory
    }

    /// Reports until the task is cancelled, then sends the vehicle's last state and closes the outbox.
    ///
    /// If a stage stalls, the process ends with status 1 and records the reason next to the outbox, so that the service
    /// manager restarts it.
    ///
    /// - Throws: an error that keeps the service from starting. A missing receiver, network or token never does.
    public func run() async throws(AgentError) {
        var last: Handover?
        repeat { last = try await run(reloading: nil, after: last) } while last != nil
    }

    /// Runs until the task is cancelled, `source` requests a reload or certificate files are replaced. Returns the
    /// handover to the next run after a reload, otherwise `nil`. `last` is the handover of the previous run.
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
        return try await run.untilItEnds()
    }

    /// Discards the current token, so that the next update requests a new one from the provider. Call it, for example,
    /// when a driver signs in or out.
    ///
    /// An update that is being sent keeps its token. An agent that isn't running has no token.
    public func forgetToken() async { await tokens.withLock { $0 }?.forgetTokens() }
}
