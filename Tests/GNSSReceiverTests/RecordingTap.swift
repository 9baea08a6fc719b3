import GNSS
import GNSSReceiver
import LinuxPlatform

/// A recorder of the notifications from a receiver's thread.
final class RecordingTap: ReceiverProgress, ReceiverTap {
    struct Record {
        var iterations = 0
        /// The number of bytes in each iteration.
        var bytesPerIteration: [Int] = []
        var bytes: [UInt8] = []
        var fixes = 0
        var openings = 0
        var hasEnded = false
    }

    private let state = Locked(Record())

    var record: Record { state.withLock { $0 } }

    func loopIterated() {
        state.withLock { state in
            state.iterations += 1
            state.bytesPerIteration.append(0)
        }
    }
    func threadEnded() { state.withLock { $0.hasEnded = true } }
    func lineOpened() { state.withLock { $0.openings += 1 } }
    func fixMade(_ fix: Fix) { state.withLock { $0.fixes += 1 } }

    func bytesReceived(_ bytes: Span<UInt8>) {
        let copy = bytes.indices.map { bytes[$0] }
        state.withLock { state in
            state.bytes += copy
            state.bytesPerIteration[state.bytesPerIteration.count - 1] += copy.count
        }
    }
}
