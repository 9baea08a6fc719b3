import GNSS
import Glibc
import LinuxPlatform

/// The files of a recording in the making: pairs of bounded size, the newest few of them; used on one thread.
///
/// They hold positions and nothing secret; only their owner may read them.
struct FlightFiles {
    private let settings: FlightSettings
    private let header: FlightEntry
    private var number: Int
    private var written: Int

    /// Begins behind what is in the folder; `header` stands first in every file.
    init(_ settings: FlightSettings, header: FlightEntry) throws(SystemError) {
        (self.settings, self.header, written) = (settings, header, 0)
        try FileSystem.createFolder(at: settings.folder)
        try FolderTrust.require(settings.folder, .none)  // old files are known by their names
        number = try FileSystem.names(inFolder: settings.folder).compactMap(FlightSettings.number).max() ?? 0
        try beginNext()
    }

    /// The first line of every file of a run that begins now.
    static func header(at now: UTCTime, isSynchronized: Bool) -> FlightEntry {
        FlightEntry(at: 0).with(\.flight, FlightEntry.format).with(\.run, now.description)
            .with(\.synchronized, isSynchronized).with(\.version, Release.version)
    }

    /// Writes both kinds and puts them on the disk: the receiver's bytes first, for the lines count them.
    mutating func write(receiver: [UInt8], lines: [UInt8]) throws(SystemError) {
        if written > 0, written + receiver.count + lines.count > settings.segmentBytes { try beginNext() }
        let first = written == 0 ? FlightBacklog.line(header) : []
        if !receiver.isEmpty { try append(receiver, to: FlightSettings.receiverFile(number)) }
        try append(first + lines, to: FlightSettings.flightFile(number))
        written += receiver.count + first.count + lines.count
    }

    private func append(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let path = "\(settings.folder)/\(name)"
        let file = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        do throws(SystemError) { try file.writeAll(bytes.span) } catch {
            throw SystemError(call: "write \(path)", number: error.number)
        }
        try FileSystem.synchronizeFile(at: path)
    }

    private mutating func beginNext() throws(SystemError) {
        (number, written) = (number + 1, 0)
        for name in try FileSystem.names(inFolder: settings.folder) {
            guard let old = FlightSettings.number(of: name), old <= number - settings.segments else { continue }
            try FileSystem.removeFile(at: "\(settings.folder)/\(name)")
        }
    }
}
