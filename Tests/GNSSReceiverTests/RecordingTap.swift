import GNSS
import GNSSReceiver
import LinuxPlatform

/// Notes what a receiver's thread tells.
final class RecordingTap: ReceiverTap {
    struct Seen {
        var turns = 0
        /// How many bytes came in each turn.
        var bytesOfTurns: [Int] = []
        var bytes: [UInt8] = []
        var fixes = 0
        /// `opened`, `closed`.
        var line: [String] = []
        var hasEnded = false
    }

    private let state = Locked(Seen())

    var seen: Seen { state.withLock { $0 } }

    var keepsOutput: Bool { true }
    func turned() {
        state.withLock { state in
            state.turns += 1
            state.bytesOfTurns.append(0)
        }
    }
    func ended() { state.withLock { $0.hasEnded = true } }
    func lineOpened() { state.withLock { $0.line.append("opened") } }
    func fixMade(_ fix: Fix) { state.withLock { $0.fixes += 1 } }
    func lineClosed() { state.withLock { $0.line.append("closed") } }

    func received(_ bytes: Span<UInt8>) {
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { state in
            state.bytes += copy
            state.bytesOfTurns[state.bytesOfTurns.count - 1] += copy.count
        }
    }
}
