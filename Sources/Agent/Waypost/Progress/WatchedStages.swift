import LinuxPlatform

/// The parts of the service that can be given up and begun anew, by their stages.
struct WatchedStages: Sendable {
    let source: WatchedSource
    let authorization: WatchedAuthorization
    let transport: WatchedTransport
    let store: StageCalls
    /// Wakes the upload loop.
    let rouse: @Sendable () async -> Void

    /// Tries the repair that is next.
    func repair(_ stall: Stall) async {
        switch stall.stage {
        case .receiver: source.repair()
        case .store: store.giveUp()
        // Both read files, of a disk that may hang.
        case .token: await onThread(named: "repair") { authorization.repair() }
        case .transport: await onThread(named: "repair") { transport.repair(attempt: stall.repairs) }
        case .upload: await rouse()
        case .intake, .tasks: break
        }
    }
}
