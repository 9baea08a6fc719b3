import GNSS
import GNSSReceiver
import LinuxPlatform
import StrictJSON
import TimeAndChance
import TrackDrawing
import Operations

/// `waypost map`: logs in, one page with the track out.
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
            throw UsageError("-o \(output) is the log \(log); give the page a name of its own", command: "map")
        }
        try ReplacedFile.require(output, as: "page", of: "map", isOurs: Self.isPage)
        if Self.otherFormats.contains(where: output.lowercased().hasSuffix) {
            throw UsageError(
                "-o \(output): the page is HTML for a browser, which can print it; give it a name that ends in .html. "
                    + "GPX, GeoJSON and CSV are written by waypost fixes --format", command: "map")
        }
        if logs.count(where: { $0 == "-" }) > 1 {
            throw UsageError("standard input (-) can be read once only", command: "map")
        }
    }

    /// How the names of files end that other programs would open, and find no page in.
    private static let otherFormats = [
        ".gpx", ".geojson", ".json", ".kml", ".kmz", ".csv", ".pdf", ".png", ".jpg", ".jpeg", ".svg",
    ]

    /// Whether a file that begins so is a page.
    private static func isPage(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 == 0x20 || 9...13 ~= $0 }
        let plain = content.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        return plain.starts(with: "<!doctype html".utf8) || plain.starts(with: "<html".utf8)
    }

    func run() async throws -> ExitStatus {
        // The page's place is taken first: a folder that cannot be written should be known before a long log is read.
        let page: FileReplacement?
        do throws(SystemError) { page = output == "-" ? nil : try FileReplacement(at: output) } catch {
            throw UnwritableFile(path: output, cause: error)
        }
        let decoder = NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum))
        let progress = output == "-" ? LogProgress.besideResults : .always
        let told = try await onThread(named: "map") { [reported] in
            Result { () throws(UsageError) in try reported.map(ReportedUploads.places) ?? [] }
        }.get()
        let (decoding, survey, meeting) = try await LogReader(paths: logs, decoder: decoder).read { reader in
            var survey = TrackSurvey()
            var meeting = ReportedMeeting(told)
            let decoding = reader.decodeAll(progress: progress) { chunk throws(SystemError) in
                for fix in chunk.fixes {
                    survey.add(fix)
                    meeting.see(fix)
                }
            }
            return (decoding, survey, meeting)
        }
        Terminal.draw("")
        if decoding.isInterrupted {
            page?.discard()
            throw decoding.interruption("no page was written")
        }
        let drawing = MapPage(
            logs: decoding.outcomes.filter { $0.statistics.bytes > 0 }, survey: survey,
            failure: decoding.failure.map { "\($0)" }, reported: told, now: .system)
        guard let size = try await write(drawing, to: page) else {
            _ = try decoding.conclude()
            throw decoding.absence
        }
        decoding.reportLosses()
        if let reported, !meeting.hasMet {
            Terminal.say(
                "waypost: --reported: no place in \(reported) lies within 1 km of the track: it is of another drive, or of a "
                    + "moved one (--spread-meters); record the uploads of a replay of the same logs")
        }
        if page != nil, Terminal.isInteractive { Terminal.say("\(output): \(FigureText.bytes(size))") }
        return try decoding.conclude()
    }

    /// Draws and writes on a thread of its own, as the disk may take its time; the size in bytes, `nil` when there is
    /// nothing to draw.
    private func write(_ drawing: MapPage, to page: FileReplacement?) async throws -> Int? {
        let result: Result<Int?, SystemError> = await onThread(named: "map") {
            guard let bytes = drawing.bytes else {
                page?.discard()
                return .success(nil)
            }
            do throws(SystemError) {
                if let page { try page.commit(bytes) } else { try StandardOutput.write(bytes) }
            } catch { return .failure(error) }
            return .success(bytes.count)
        }
        switch result {
        case .success(let size): return size
        case .failure(let error): throw page == nil ? error : UnwritableFile(path: output, cause: error)
        }
    }
}

/// Whether what was told is of the drive that is drawn. A replay moves its times, so that the places tell.
struct ReportedMeeting: Sendable {
    /// What is told of a drive is told of its fixes, all of it: a few places will do.
    private static let mostPlaces = 20
    private static let longestDistanceMeters = 1000.0

    private let places: [Fix]
    private(set) var hasMet: Bool

    /// Where nothing was told, nothing is elsewhere.
    init(_ told: [ReportedPlace]) {
        let step = max(1, told.count / Self.mostPlaces)
        places = stride(from: 0, to: told.count, by: step).map { told[$0].fix }
        hasMet = told.isEmpty
    }

    mutating func see(_ fix: Fix) {
        hasMet = hasMet || places.contains { $0.distance(to: fix) <= Self.longestDistanceMeters }
    }
}

/// What a simulator wrote of the updates that it got, a line each.
enum ReportedUploads {
    private struct Upload: Decodable {
        struct Location: Decodable {
            let time, latitude, longitude: Double
        }

        let vehicle: String
        let locations: [Location]
    }

    /// The places of the one vehicle in the file at `path`; blocks.
    static func places(in path: String) throws(UsageError) -> [ReportedPlace] {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 256 << 20) } catch {
            throw UsageError("--reported: \(path) \(error); name a file of simulator --record-uploads", command: "map")
        }
        var vehicles: Set<String> = []
        var places: [ReportedPlace] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let upload = try? JSONValue(parsing: Array(line)).decoded(as: Upload.self) else {
                throw UsageError(
                    "--reported: line \(index + 1) of \(path) is no update; name a file of simulator --record-uploads",
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
            throw UsageError("--reported: \(path) is of \(vehicles.count) vehicles; record one alone", command: "map")
        }
        return places.sorted { $0.fix.timeOfFix < $1.fix.timeOfFix }
    }
}
