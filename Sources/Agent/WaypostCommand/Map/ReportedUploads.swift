import GNSS
import LinuxPlatform
import StrictJSON
import TimeAndChance
import TrackDrawing

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
        var (vehicles, places): (Set<String>, [ReportedPlace]) = ([], [])
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
