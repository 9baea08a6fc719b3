import GNSS
import LinuxPlatform
import ReceiverSimulator
import Waypost

/// A drive on a motorway that ended a minute ago, seen every 5 s, so that each of its epochs is due as an update.
struct RecentDrive: Sequence, IteratorProtocol {
    private var drive: Drive

    init(epochs: Int) {
        let length = Duration.seconds(5 * epochs)
        let end = UTCTime(millisecondsSince1970: UTCTime.system.millisecondsSince1970 / 1000 * 1000 - 60_000)
        drive = Drive(.motorway, start: end.advanced(by: .zero - length), duration: length)
    }

    mutating func next() -> DriveEpoch? {
        defer { for _ in 1..<5 { _ = drive.next() } }
        return drive.next()
    }
}
