import CByteLoop
import FoundationEssentials
import ReceiverSimulator

/// The bytes to decode, repeated until there are enough of them for steady times.
struct BenchmarkInput {
    let name: String
    let bytes: [UInt8]

    /// Returns an hour of a town drive, as from a u-blox receiver.
    static func generatedDrive(megabytes: Int) -> BenchmarkInput {
        var bytes: [UInt8] = []
        for epoch in Drive(.town, seed: 1, duration: .seconds(3600)) { bytes += epoch.sentences }
        return BenchmarkInput(name: "drive", repeating: bytes, megabytes: megabytes)
    }

    /// Returns all recorded logs in `WAYPOST_RECORDED_LOGS` or next to the checkout; `nil` if there aren't any.
    static func recordedMix(megabytes: Int) -> BenchmarkInput? {
        let nextToCheckout = URL(filePath: #filePath).appending(path: "../../../../../shared/data/nmea")
            .standardizedFileURL
        let directory =
            ProcessInfo.processInfo.environment["WAYPOST_RECORDED_LOGS"].map { URL(filePath: $0) }
            ?? nextToCheckout
        let logs = directory.appending(path: "gpsd")
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: logs.path) else { return nil }
        var bytes: [UInt8] = []
        for name in names.sorted() where name.hasSuffix(".log") {
            if let log = FileManager.default.contents(atPath: logs.appending(path: name).path) { bytes += log }
        }
        return bytes.isEmpty ? nil : BenchmarkInput(name: "recorded", repeating: bytes, megabytes: megabytes)
    }

    private init(name: String, repeating bytes: [UInt8], megabytes: Int) {
        self.name = name
        var all: [UInt8] = []
        let size = megabytes * 1_000_000
        all.reserveCapacity(size + bytes.count)
        while all.count < size { all += bytes }
        self.bytes = all
    }

    /// Returns the throughput of one pass of `body`, in megabytes per second of processor time. The result of `body` is
    /// used, so that the pass isn't optimised away.
    func throughput(of body: (Span<UInt8>) -> Int) -> Double {
        let start = cbyteloop_seconds()
        let result = body(bytes.span)
        let seconds = cbyteloop_seconds() - start
        precondition(result > 0, "nothing was found in \(name)")
        return Double(bytes.count) / 1e6 / seconds
    }
}
