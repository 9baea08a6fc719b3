import LinuxPlatform

/// Keeps the bytes of a receiver as they came, in numbered files of bounded size; used on the receiver's thread alone.
///
/// The files hold positions and nothing secret; only their owner may read them. They are not synced: a power cut costs
/// the last seconds of a recording, never an update.
final class ReceiverRecorder {
    private let settings: RecordingSettings
    private var file: Int
    private var written = 0
    private var hasEnded = false

    init(_ settings: RecordingSettings) {
        self.settings = settings
        file = 0
        attempt { [self] () throws(SystemError) in
            try FileSystem.createFolder(at: settings.folder)
            file = (try numbers().max() ?? 0) + 1
            try forgetOldest()
        }
    }

    /// Writes what was read.
    func append(_ bytes: Span<UInt8>) {
        guard !hasEnded else { return }
        attempt { [self] () throws(SystemError) in
            if written >= settings.fileBytes {
                (file, written) = (file + 1, 0)
                try forgetOldest()
            }
            let descriptor = try OwnedDescriptor(appendingTo: path(of: file))
            try descriptor.writeAll(bytes)
            written += bytes.count
        }
    }

    /// Removes what is more than is to be kept, the file about to be written counted in.
    private func forgetOldest() throws(SystemError) {
        for number in try numbers() where number <= file - settings.files {
            try FileSystem.removeFile(at: path(of: number))
        }
    }

    private func numbers() throws(SystemError) -> [Int] {
        try FileSystem.names(inFolder: settings.folder).compactMap { name in
            guard name.hasPrefix("receiver-"), name.hasSuffix(".nmea") else { return nil }
            return Int(name.dropFirst(9).dropLast(5))
        }
    }

    private func path(of number: Int) -> String {
        let digits = String(number)
        return "\(settings.folder)/receiver-\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).nmea"
    }

    private func attempt(_ body: () throws(SystemError) -> Void) {
        do { try body() } catch {
            hasEnded = true
            settings.reportEnd("the receiver is not recorded any more: \(error); reporting goes on")
        }
    }
}
