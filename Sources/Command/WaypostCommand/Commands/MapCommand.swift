import GNSS
import GNSSReceiver
import LinuxPlatform
import LogReports
import StrictJSON
import TimeAndRandomness
import TrackDrawing
import Operations

/// `waypost map`: draws the track of one or more logs on an HTML page.
struct MapCommand {
    private let logs: [String]
    private let output: String
    private let reported: String?
    private let acceptsMissingChecksum: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands
        output = arguments.value("-o") ?? "-"
        reported = arguments.value("--reported")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        if let log = logs.first(where: { $0 != "-" && FileSystem.isSameFile($0, output) }) {
            throw UsageError("-o \(output) is the log \(log); give the page another name", command: "map")
        }
        try ReplacedFile.require(output, as: "page", of: "map", isOurs: Self.isHTML)
        if Self.otherFormats.contains(where: output.lowercased().hasSuffix) {
            throw UsageError(
                "-o \(output): the page is HTML; use a name that ends in .html, or waypost fixes --format for GPX, "
                    + "GeoJSON and CSV", command: "map")
        }
        if logs.count(where: { $0 == "-" }) > 1 {
            throw UsageError("standard input (-) can be read only once", command: "map")
        }
    }

    /// The extensions of file names from which the user expects another format than HTML.
    private static let otherFormats = [
        ".gpx", ".geojson", ".json", ".kml", ".kmz", ".csv", ".pdf", ".png", ".jpg", ".jpeg", ".svg",
    ]

    /// Whether a file that begins with these bytes is an HTML page.
    private static func isHTML(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 == 0x20 || 9...13 ~= $0 }
        let plain = content.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        return plain.starts(with: "<!doctype html".utf8) || plain.starts(with: "<html".utf8)
    }

    func run() async throws -> ExitStatus {
        // The file is opened first, so that an unwritable directory is reported before a long log is read.
        let file: FileReplacement?
        do throws(SystemError) { file = output == "-" ? nil : try FileReplacement(at: output) } catch {
            throw UnwritableFile(path: output, cause: error)
        }
        let decoder = NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum))
        let progress = output == "-" ? LogProgress.ifResultsAreRedirected : .always
        let places = try await onThread(named: "map") { [reported] in
            Result { () throws(UsageError) in try reported.map(RecordedUploads.places) ?? [] }
        }.get()
        let (decoding, survey, match) = try await LogReader(paths: logs, decoder: decoder).read { reader in
            var survey = TrackSurvey()
            var match = ReportedDriveMatch(places)
            let decoding = reader.decodeAll(progress: progress) { chunk throws(SystemError) in
                for fix in chunk.fixes {
                    survey.add(fix)
                    match.add(fix)
                }
            }
            return (decoding, survey, match)
        }
        Terminal.draw("")
        if decoding.isInterrupted {
            file?.discard()
            throw decoding.interruption(results: "no page was written")
        }
        let page = MapPage(
            logs: decoding.outcomes.filter { $0.statistics.bytes > 0 }, survey: survey,
            failure: decoding.failure.map { "\($0)" }, reported: places, now: .system)
        guard let size = try await write(page, to: file) else {
            _ = try decoding.exitStatus()
            throw decoding.noFixError
        }
        decoding.reportLosses()
        if let reported, !match.hasMatch {
            Terminal.say(
                "waypost: --reported: no position in \(reported) is within 1 km of the track: the file belongs to another drive, "
                    + "or to a drive moved by --spread-meters; record the uploads of a replay of the same logs")
        }
        if file != nil, Terminal.isInteractive { Terminal.say("\(output): \(FigureText.bytes(size))") }
        return try decoding.exitStatus()
    }

    /// Draws and writes the page on a separate thread, because writing may block. Returns the page's size in bytes;
    /// `nil` if there is nothing to draw.
    private func write(_ page: MapPage, to file: FileReplacement?) async throws -> Int? {
        let result: Result<Int?, SystemError> = await onThread(named: "map") {
            guard let bytes = page.bytes else {
                file?.discard()
                return .success(nil)
            }
            do throws(SystemError) {
                if let file { try file.commit(bytes) } else { try StandardOutput.write(bytes) }
            } catch { return .failure(error) }
            return .success(bytes.count)
        }
        switch result {
        case .success(let size): return size
        case .failure(let error): throw file == nil ? error : UnwritableFile(path: output, cause: error)
        }
    }
}

/// A check that the reported positions belong to the drive on the map. It compares only coordinates, because a replay
/// changes the times.
struct ReportedDriveMatch: Sendable {
    /// The maximum number of reported positions to compare. A few suffice, because all reported positions of a drive
    /// are near its fixes.
    private static let maximumPlaces = 20
    private static let maximumDistanceMeters = 1000.0

    private let places: [Fix]
    /// Whether a reported position is near a fix. It is also `true` if no position was reported.
    private(set) var hasMatch: Bool

    init(_ reported: [ReportedPlace]) {
        let step = max(1, reported.count / Self.maximumPlaces)
        places = stride(from: 0, to: reported.count, by: step).map { reported[$0].fix }
        hasMatch = reported.isEmpty
    }

    mutating func add(_ fix: Fix) {
        hasMatch = hasMatch || places.contains { $0.distance(to: fix) <= Self.maximumDistanceMeters }
    }
}

/// The file that `simulator --record-uploads` writes. It contains one line per update.
enum RecordedUploads {
    private struct Upload: Decodable {
        struct Location: Decodable {
            let time, latitude, longitude: Double
        }

        let vehicle: String
        let locations: [Location]
    }

    /// Returns the reported positions in the file at `path`, in order of time. Blocks. The file must contain only one
    /// vehicle.
    static func places(in path: String) throws(UsageError) -> [ReportedPlace] {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 256 << 20) } catch {
            throw UsageError("--reported: \(path) \(error); use a file of simulator --record-uploads", command: "map")
        }
        var vehicles: Set<String> = []
        var places: [ReportedPlace] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let upload = try? JSONValue(parsing: Array(line)).decoded(as: Upload.self) else {
                throw UsageError(
                    "--reported: line \(index + 1) of \(path) is not an update; use a file of simulator --record-uploads",
                    command: "map")
            }
            vehicles.insert(upload.vehicle)
            for (index, location) in upload.locations.enumerated() {
                let time = UTCTime(millisecondsSince1970: Int64((location.time * 1000).rounded()))
                places.append(
                    ReportedPlace(
                        Fix(timeOfFix: time, latitude: location.latitude, longitude: location.longitude),
                        isLive: index == upload.locations.count - 1))
            }
        }
        guard vehicles.count < 2 else {
            throw UsageError("--reported: \(path) contains \(vehicles.count) vehicles; record only one", command: "map")
        }
        return places.sorted { $0.fix.timeOfFix < $1.fix.timeOfFix }
    }
}
