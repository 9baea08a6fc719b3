package import BackendAuthorization
import CurlTransport
package import FleetEngine
import FleetEngineDelivery
import GNSS
package import GNSSReceiver
package import HTTPMessages
package import LinuxPlatform
import ReportedText
package import Reporting
package import TimeAndRandomness
package import VehicleAuthorization

extension Configuration {
    /// Returns a transport to Fleet Engine with at most `connections` connections. If `connections` is `nil`, the limit
    /// is the number that one vehicle needs.
    ///
    /// If a certificate file is unusable and `toleratesFiles` is `true`, every exchange over the transport fails.
    ///
    /// - Throws: an error if a certificate file is unusable.
    package func makeTransport(
        connections: Int? = nil, toleratesFiles: Bool = false
    ) throws(AgentError) -> any HTTPTransport {
        try Self.makeTransport(
            with: uploadCertificateFiles, proxy: upload.proxy, connections: connections, toleratesFiles: toleratesFiles)
    }

    /// Returns a delivery that sends the configured vehicle's updates over `transport`, with tokens from
    /// `authorization`.
    package func makeDelivery(
        authorization: any VehicleAuthorization, transport: any HTTPTransport
    ) -> any Delivery {
        FleetEngineDelivery(
            of: vehicle, to: upload.endpoint, limits: HTTPLimits(total: upload.timeout), authorization: authorization,
            transport: transport)
    }

    /// The maximum time that an update waits for a token. It is longer than the provider's own time limit, so that the
    /// provider can report a timeout or a killed command first.
    package var tokenTimeout: Duration {
        let limit: Duration =
            switch authorization {
            case .http(let settings, _): settings.limits.total
            case .command(_, _, _, let timeout): timeout
            case .file: .zero
            }
        return max(limit, .seconds(30)) + .seconds(30)
    }

    /// Creates the source that reads the configured receiver.
    ///
    /// - Parameters:
    ///   - present: returns the current time, accurate to within years. It is used to repair dates after a roll-over of
    ///     the GPS week number.
    ///   - foundRate: the baud rate with which a search starts. After a search, it contains the rate that was found.
    ///   - progress: receives the progress of a live receiver.
    ///   - tap: receives a copy of the bytes of a live receiver.
    /// - Returns: the source of the receiver's fixes.
    package func makeSource(
        present: @escaping @Sendable () -> UTCTime, foundRate: Locked<FoundBaudRate?> = Locked(nil),
        progress: (any ReceiverProgress)? = nil,
        tap: (any ReceiverTap)? = nil
    ) -> any FixSource {
        let accepts = receiver.acceptsMissingChecksum
        let dates = NMEADecoderOptions.Dates.repaired(
            reference: present, earliest: Release.date, hostTime: { UTCTime.synchronizedSystem })
        let live = NMEADecoder(
            options: NMEADecoderOptions(dates: dates, acceptsMissingChecksum: accepts, readsSky: true))
        return switch receiver.source {
        case .serial(let device, let baudRate):
            LiveReceiver.serial(
                device: device, baudRate: baudRate, found: foundRate, decoder: live, progress: progress, tap: tap)
        case .file(let path, follows: true):
            LiveReceiver.growingFile(path, decoder: live, progress: progress, tap: tap)
        case .file(let path, follows: false):
            LogReceiver(
                paths: [path], decoder: NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: accepts)))
        case .standardInput: StandardInputReceiver(decoder: live, progress: progress, tap: tap)
        case .tcp(let host, let port):
            LiveReceiver.tcp(host: host, port: port, decoder: live, progress: progress, tap: tap)
        case .udp(let host, let port):
            LiveReceiver.udp(host: host, port: port, decoder: live, progress: progress, tap: tap)
        case .gpsd(let host, let port, let device):
            LiveReceiver.gpsd(host: host, port: port, device: device, dates: dates, progress: progress, tap: tap)
        }
    }

    /// Whether the receiver is a recorded log that is read once to its end, and not followed.
    package var readsRecording: Bool { if case .file(_, follows: false) = receiver.source { true } else { false } }

    /// Returns a token cache in front of `provider`. `report` receives the cache's events.
    package func makeTokenCache(
        for provider: any VehicleAuthorization, clock: any Clock<Duration>, policy: CachePolicy = CachePolicy(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        report: @escaping @Sendable (TokenEvent) -> Void
    ) -> CachedAuthorization {
        CachedAuthorization(
            provider, clock: clock, policy: policy, claims: claimRules, timeout: tokenTimeout, jitter: jitter,
            report: report)
    }

    var claimRules: ClaimRules {
        ClaimRules(vehicleClaim: vehicle.service == .onDemandTrips ? .vehicleid : .deliveryvehicleid)
    }

    /// Returns the configured token provider, without a cache.
    ///
    /// If `reportsCertificateEnd` is `true`, the provider's responses contain the time at which the endpoint's
    /// certificate expires. `toleratesFiles` means the same as for `makeTransport`, and `runID` the same as for
    /// `HTTPTokenProvider`. If the provider is a command, `report` receives warnings about its processes.
    package func makeProvider(
        reportsCertificateEnd: Bool = false, toleratesFiles: Bool = false, runID: String? = nil,
        report: @escaping @Sendable (TokenEvent) -> Void = { _ in }
    ) throws(AgentError) -> any TokenProvider {
        let section = authorizationSection
        let synchronizedClock: @Sendable () -> Double? = { UTCTime.synchronizedSystem?.secondsSince1970 }
        do {
            switch authorization {
            case .http(let settings, let trust):
                return try HTTPTokenProvider(
                    settings, section: section, providerID: vehicle.providerID,
                    transport: try Self.makeTransport(
                        with: tokenCertificateFiles, proxy: trust.proxy, reportsCertificateEnd: reportsCertificateEnd,
                        toleratesFiles: toleratesFiles),
                    sendsCertificate: trust.clientKeyFile != nil, runID: runID, synchronizedClock: synchronizedClock)
            case .command(let arguments, let environment, let format, let timeout):
                return try CommandTokenProvider(
                    arguments: arguments, section: section, environment: environment, providerID: vehicle.providerID,
                    format: format, timeLimit: timeout, synchronizedClock: synchronizedClock,
                    report: { report(.warnings([$0])) })
            case .file(let path, let format):
                return FileTokenProvider(
                    path: path, section: section, providerID: vehicle.providerID, format: format,
                    synchronizedClock: synchronizedClock)
            }
        } catch { throw (error as? AgentError) ?? AgentError(.configuration, "\(error)") }
    }

    private static func makeTransport(
        with files: CertificateFiles, proxy: HTTPProxy?, connections: Int? = nil, reportsCertificateEnd: Bool = false,
        toleratesFiles: Bool
    ) throws(AgentError) -> any HTTPTransport {
        if let problem = files.problems.first {
            guard toleratesFiles else { throw AgentError(.configuration, problem) }
            return UnusableTransport(problem: ReportedText(problem, limit: ReportedText.maximumSentenceLength))
        }
        var options = CurlTransportOptions(userAgent: "waypost/" + Release.version, caFile: files.caFile)
        if let connections { options.maximumConnections = connections }
        options.clientCertificate = files.clientCertificate
        options.proxy = proxy
        options.reportsCertificateEnd = reportsCertificateEnd
        do { return try CurlTransport(options: options) } catch {
            throw AgentError(.configuration, "\(files.section): \(error)")
        }
    }
}

extension Configuration {
    /// The private switch; `nil` if none is configured. The switch is on if anything exists at its path, or if its
    /// existence can't be determined.
    package var privateSwitch: PrivateSwitch? {
        guard let path = privateModeFile else { return nil }
        return {
            let isOn = await onThreadIfPossible(named: "private-switch") {
                do throws(SystemError) { return try FileStatus(at: path) != nil } catch { return true }
            }
            return (try? isOn.get()) ?? true
        }
    }

    package var uploadSettings: UploadSettings {
        UploadSettings(
            presence: Presence(stateWhileRunning), timeLimit: upload.timeout,
            maximumPastLocations: upload.maximumPastLocations,
            backlogUpdatesPerSecond: upload.backlogUpdatesPerSecond, retry: upload.retry,
            heartbeat: reporting.heartbeat)
    }
}

extension Presence {
    package init(_ state: VehicleState) {
        switch state {
        case .online: self = .online
        case .offline: self = .offline
        }
    }
}

/// A transport whose certificate files are unusable, so that every exchange fails. The service starts with it, and
/// replaces it when the files have been replaced.
private struct UnusableTransport: HTTPTransport {
    let problem: ReportedText

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        throw HTTPTransportError(.transportFailed, problem)
    }

    func networkChanged() {}
}
