import BackendAuthorization
import HTTPMessages
import GNSSReceiver

extension Configuration {
    /// How long each stage may stand still: well past every limit that the stage itself keeps, so that what it can tell
    /// by itself (a timeout, a token command that was ended) is told by it.
    package var patience: [Stage: ProgressWatch.Patience] {
        let token: Duration =
            switch authorization {
            case .http(let settings, _): settings.limits.total
            case .command(_, _, _, let timeout): timeout
            case .file: .zero
            }
        return [
            .receiver: .init(ReceiverPace.longestOpening + ReceiverPace.longestTurn * 3),
            .intake: .init(.seconds(300)),
            // Worn-out flash can take many seconds for an fsync; while positions go out from memory there is no haste.
            .store: .init(.seconds(30), afterRepair: .seconds(300)),
            .token: .init(max(token, .seconds(30)) + .seconds(30)),
            .transport: .init(upload.timeout + .seconds(30)),
            // Longer than all that it may wait for without a word: store, token and exchange.
            .upload: .init(upload.timeout + max(token, .seconds(30)) + .seconds(180)),
            .tasks: .init(.seconds(60)),
        ]
    }
}
