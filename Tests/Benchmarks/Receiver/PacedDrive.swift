import ReceiverSimulator
import TimeAndRandomness
import WaypostTestSupport

/// A drive of a receiver that sends the useful sentences first: RMC VTG GGA GSA, then satellites in view.
struct PacedDrive {
    struct Epoch {
        let time: UTCTime
        let bytes: [UInt8]
        /// The number of bytes up to the checksum of the last useful sentence.
        let usefulBytes: Int
    }

    private(set) var epochs: [Epoch] = []
    let baudRate: Int
    /// The time from one epoch to the next.
    let interval: Duration

    /// The time of a byte on the line: ten bits, with 8 data bits.
    var byteTime: Duration { .seconds(10) / baudRate }
    var meanBytes: Int { epochs.map(\.bytes.count).reduce(0, +) / max(epochs.count, 1) }

    /// The mean time that the bytes after an epoch's last useful byte take on the line.
    var meanTimeAfterUsefulBytes: Duration {
        byteTime * (epochs.map { $0.bytes.count - $0.usefulBytes }.reduce(0, +) / max(epochs.count, 1))
    }

    /// Creates a drive. `constellations` is the number of constellations with satellites in view.
    init(_ situation: DriveSituation, baudRate: Int, epochs count: Int, constellations: Int = 1) {
        self.baudRate = baudRate
        interval = situation == .tenHertz ? .milliseconds(100) : .seconds(1)
        let drive = Drive(situation, duration: interval * count, epochsPerSatelliteReport: 1)
        for epoch in drive {
            var useful: [UInt8] = []
            var inView: [UInt8] = []
            for line in String(decoding: epoch.sentences, as: UTF8.self).split(separator: "\r\n") {
                let payload = line.dropFirst().prefix { $0 != "*" }
                if payload.hasPrefix("GNGLL") { continue }
                guard payload.hasPrefix("GPGSV") else {
                    useful += sentence(String(payload)).utf8
                    continue
                }
                for talker in ["GP", "GL", "GA"].prefix(constellations) {
                    inView += sentence(talker + payload.dropFirst(2)).utf8
                }
            }
            epochs.append(
                Epoch(time: epoch.time, bytes: useful + inView, usefulBytes: useful.count - "\r\n".utf8.count))
        }
    }

    /// Returns the drive's first `count` epochs.
    func prefix(_ count: Int) -> PacedDrive {
        var drive = self
        drive.epochs = Array(epochs.prefix(count))
        return drive
    }
}
