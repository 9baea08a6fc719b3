import FoundationEssentials
import GNSS
import GNSSReceiver
import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import WaypostCommand

@Suite struct WrittenFixes {
    @Test func areATrackSplitWhereReceptionWasLost() async throws {
        let outcome = try await BuiltProgram.run(["fixes", Fixtures.url("nmea/tunnel.nmea").path, "--format", "gpx"])
        let text = String(decoding: outcome.standardOutput, as: UTF8.self)
        #expect(text.components(separatedBy: "<trkseg>").count == 3)
        #expect(text.components(separatedBy: "</trkseg>").count == 3)
    }

    static let sample: Fix = {
        var fix = Fix(
            timeOfFix: UTCTime(year: 2026, month: 3, day: 31, millisecondOfDay: 37_800_250), latitude: 53.55,
            longitude: -10.25)
        fix.altitudeMeters = 11.7
        fix.geoidSeparationMeters = 39.6
        fix.satellitesUsed = 11
        fix.hdop = 0.91
        return fix
    }()

    static func text(of fixes: [Fix], as format: FixesFormat) -> String {
        var bytes: [UInt8] = []
        format.appendHeader(to: &bytes)
        for (index, fix) in fixes.enumerated() { format.append(fix, isFirst: index == 0, isBroken: false, to: &bytes) }
        format.appendFooter(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func areATrackInGPX() {
        #expect(
            Self.text(of: [Self.sample], as: .gpx) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <gpx version="1.1" creator="Waypost" xmlns="http://www.topografix.com/GPX/1/1">
                <trk><trkseg>
                <trkpt lat="53.55" lon="-10.25"><ele>11.7</ele><time>2026-03-31T10:30:00.250Z</time>\
                <geoidheight>39.6</geoidheight><sat>11</sat><hdop>0.91</hdop></trkpt>
                </trkseg></trk>
                </gpx>

                """)
    }

    @Test(arguments: [0, 1, 3]) func arePointsInGeoJSON(count: Int) throws {
        struct Collection: Decodable {
            struct Feature: Decodable {
                struct Geometry: Decodable { let coordinates: [Double] }
                struct Properties: Decodable { let latitude: Double }
                let geometry: Geometry
                let properties: Properties
            }
            let features: [Feature]
        }
        let text = Self.text(of: Array(repeating: Self.sample, count: count), as: .geojson)
        let collection = try JSONDecoder().decode(Collection.self, from: Data(text.utf8))
        #expect(collection.features.count == count)
        #expect(collection.features.allSatisfy { $0.geometry.coordinates == [-10.25, 53.55, 51.3] })
        #expect(collection.features.allSatisfy { $0.properties.latitude == 53.55 })
    }

    @Test(arguments: ["town", "tunnel", "midnight"]) func matchTheExpectedFixes(drive: String) async throws {
        let path = Fixtures.url("nmea/\(drive).nmea").path
        let (decoding, output) = try await LogReader(paths: [path]).read { reader in
            var output: [UInt8] = []
            let decoding = reader.decodeAll(progress: .silent) { chunk throws(SystemError) in
                for fix in chunk.fixes { JSONLinesFormat.append(fix, to: &output) }
            }
            return (decoding, output)
        }
        #expect(decoding.failure == nil)
        let expected = try Data(contentsOf: Fixtures.url("nmea/\(drive).expected"))
        #expect(output == Array(expected))
    }

    @Test func statisticsAreKeptIfALaterLogIsMissing() async throws {
        let good = Fixtures.url("nmea/town.nmea").path
        let decoding = try await LogReader(paths: [good, "/nonexistent.nmea"]).read { reader in
            reader.decodeAll(progress: .silent) { _ in }
        }
        #expect(decoding.outcomes.first?.statistics.epochs.fixes == 600)
        #expect(decoding.failure is FixSourceError)
    }
}
