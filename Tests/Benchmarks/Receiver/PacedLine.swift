import Glibc
import LinuxPlatform
import WaypostTestSupport

/// A drive that is written to a pseudo-terminal at the speed of a line with the given baud rate.
struct PacedLine {
    /// The number of bytes that a serial port collects before it passes them on, unless a pause begins earlier.
    private static let chunkBytes = 16

    let terminal: PseudoTerminal
    let drive: PacedDrive

    /// Sends all epochs, and returns when the last one is sent. Calls `announce` with an epoch's number just before it
    /// writes the chunk that ends with the epoch's last useful byte.
    func run(announce: (Int) -> Void) throws(SystemError) {
        let start = MonotonicTime.now
        for (number, epoch) in drive.epochs.enumerated() {
            let begin = start + drive.interval * number
            var sent = 0
            while sent < epoch.bytes.count {
                var end = min(sent + Self.chunkBytes, epoch.bytes.count)
                if sent < epoch.usefulBytes { end = min(end, epoch.usefulBytes) }
                Self.sleep(until: begin + drive.byteTime * end)
                let chunk = Array(epoch.bytes[sent..<end])
                if end == epoch.usefulBytes { announce(number) }
                try terminal.send(chunk)
                sent = end
            }
        }
    }

    /// Sleeps until `moment`, exact to microseconds, unlike `poll`, which counts milliseconds.
    private static func sleep(until moment: Duration) {
        let (seconds, attoseconds) = moment.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        while unsafe clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
