@_exported public import Operations
import LinuxPlatform
public import VehicleAuthorization

/// The service: one vehicle's position, reported from a receiver to Fleet Engine until stopped.
///
/// ```swift
/// let configuration = try Configuration(file: "/etc/waypost/config.json")
/// try await Agent(configuration).run()
/// ```
///
/// Give `authorization` to use a provider of your own in place of the configured one. Between it and the uploads stands
/// a cache that keeps the rules of the Driver SDK: your provider is asked when a new token is due, or after
/// `forgetToken`. One that keeps its tokens itself can be asked at every update: `.askingAtEveryUpdate`.
public struct Agent: Sendable {
    private let configuration: Configuration
    private let authorization: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy
    /// While the agent runs.
    private let tokens = Locked<CachedAuthorization?>(nil)
    private let recordingDirectory: String?

    /// An agent for `configuration`; nothing is opened before `run`.
    ///
    /// `authorization` is asked for tokens in place of the configured provider, as `cachePolicy` has it. The run is
    /// recorded in `recordingDirectory`: the receiver's bytes with their times, and the log; 32 MiB at most, no token.
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
    /// When a stage has stalled, the process ends with status 1 and leaves the reason beside the outbox: whoever
    /// keeps the service restarts it.
    ///
    /// - Throws: what keeps the service from starting; a missing receiver, network or token never does.
    public func run() async throws(AgentError) {
        var last: Handover?
        repeat { last = try await run(reloading: nil, after: last) } while last != nil
    }

    /// Runs until the task is cancelled, or until another run should take the place of this one: because `source`
    /// requests it, or because certificate files were replaced. Returns what the next run needs then, and `nil`
    /// otherwise. `last` is what the previous run returned.
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

    /// Lets go of the token in use: the next update asks the provider for another, as when a driver signs out or in.
    ///
    /// An update that is on its way has its token already. An agent that does not run holds none.
    public func forgetToken() async { await tokens.withLock { $0 }?.forgetTokens() }
}
