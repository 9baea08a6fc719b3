import LinuxPlatform
import ReceiverSimulator
import TimeAndRandomness

/// A drive on a motorway that ended a minute ago, or later if the receiver's clock is wrong by `ahead`. It has a fix
/// every 5 s, so that each epoch is due as an update.
struct RecentDrive: Sequence, IteratorProtocol {
    private var drive: Drive

    init(epochs: Int, ahead: Duration = .zero) {
        let length = Duration.seconds(5 * epochs)
        let end = UTCTime(millisecondsSince1970: UTCTime.system.millisecondsSince1970 / 1000 * 1000 - 60_000)
        drive = Drive(.motorway, start: end.advanced(by: ahead - length), duration: length)
    }

    mutating func next() -> DriveEpoch? {
        defer { for _ in 1..<5 { _ = drive.next() } }
        return drive.next()
    }
}
