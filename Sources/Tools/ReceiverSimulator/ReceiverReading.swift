import GNSS
import TimeAndRandomness

/// The values that a receiver reports at one epoch. They are whole numbers in units of the last decimal in the
/// receiver's sentences.
struct ReceiverReading {
    let time: UTCTime
    let hasFix: Bool
    /// The latitude in units of 0.00001 minute.
    let latitude: Int64
    /// The longitude in units of 0.00001 minute.
    let longitude: Int64
    /// The speed in thousandths of a knot.
    let speed: Int64
    /// The course in hundredths of a degree; `nil` at standstill.
    let course: Int64?
    /// The altitude above mean sea level in decimetres.
    let altitude: Int64
    /// The HDOP in hundredths.
    let hdop: Int64
    let satellitesUsed: Int64

    /// The height of mean sea level above the WGS 84 ellipsoid in the area of the drives, in decimetres.
    static let geoidSeparation: Int64 = 396
    /// The range error, in metres, by which a decoder multiplies HDOP to estimate the horizontal accuracy.
    private static let rangeErrorMeters = 4.5
    /// The smallest horizontal accuracy that a decoder reports, in metres.
    private static let minimumRadiusMeters = 4.0

    /// The fix that a correct decoder returns for this reading; `nil` if the receiver has no fix.
    var truth: Fix? {
        guard hasFix else { return nil }
        var fix = Fix(
            timeOfFix: time, latitude: Double(latitude) / 6_000_000, longitude: Double(longitude) / 6_000_000,
            quality: .gps)
        fix.altitudeMeters = Double(altitude) / 10
        fix.geoidSeparationMeters = Double(Self.geoidSeparation) / 10
        fix.speedMetersPerSecond = Double(speed) / 1000 * 1852 / 3600
        fix.headingDegrees = course.map { Double($0) / 100 }
        fix.hdop = Double(hdop) / 100
        fix.horizontalAccuracyMeters = max(Self.minimumRadiusMeters, Double(hdop) / 100 * Self.rangeErrorMeters)
        fix.satellitesUsed = Int(satellitesUsed)
        fix.mode = .threeDimensional
        return fix
    }
}

/// The reading as NMEA 0183 version 4.0 sentences, in the order and format of u-blox receivers.
extension ReceiverReading {
    /// The sentences RMC, VTG, GGA, GSA and GLL. GSV, the sentence with the satellites in view, is left out.
    var sentences: [UInt8] { sentences(satellites: []) }

    /// Returns the sentences RMC, VTG, GGA, GSA, GSV and GLL. GSV is left out if `satellites` is empty.
    func sentences(satellites: [SimulatedSatellite]) -> [UInt8] {
        var writer = SentenceWriter()
        writeRMC(to: &writer)
        writeVTG(to: &writer)
        writeGGA(to: &writer)
        writeGSA(to: &writer)
        writeGSV(satellites, to: &writer)
        writeGLL(to: &writer)
        return writer.bytes
    }

    private func writeRMC(to writer: inout SentenceWriter) {
        writer.begin("GNRMC")
        writer.appendTime(time)
        writer.appendTexts(hasFix ? "A" : "V")
        writeCoordinates(to: &writer)
        if hasFix { writer.appendNumber(speed, decimals: 3) } else { writer.appendEmptyFields() }
        writeCourse(to: &writer)
        writer.appendDate(time)
        writer.appendEmptyFields(2)
        writer.appendTexts(hasFix ? "A" : "N")
        writer.end()
    }

    private func writeVTG(to writer: inout SentenceWriter) {
        writer.begin("GNVTG")
        writeCourse(to: &writer)
        writer.appendTexts("T")
        writer.appendEmptyFields()
        writer.appendTexts("M")
        if hasFix { writer.appendNumber(speed, decimals: 3) } else { writer.appendEmptyFields() }
        writer.appendTexts("N")
        if hasFix { writer.appendNumber((speed * 1852 + 500) / 1000, decimals: 3) } else { writer.appendEmptyFields() }
        writer.appendTexts("K", hasFix ? "A" : "N")
        writer.end()
    }

    private func writeGGA(to writer: inout SentenceWriter) {
        writer.begin("GNGGA")
        writer.appendTime(time)
        writeCoordinates(to: &writer)
        if hasFix {
            writer.appendTexts("1")
            writer.appendNumber(satellitesUsed, width: 2)
            writer.appendNumber(hdop, decimals: 2)
            writer.appendNumber(altitude, decimals: 1)
            writer.appendTexts("M")
            writer.appendNumber(Self.geoidSeparation, decimals: 1)
            writer.appendTexts("M")
        } else {
            writer.appendTexts("0", "00", "99.99")
            writer.appendEmptyFields(4)
        }
        writer.appendEmptyFields(2)
        writer.end()
    }

    private func writeGSA(to writer: inout SentenceWriter) {
        writer.begin("GNGSA")
        writer.appendTexts("A", hasFix ? "3" : "1")
        for index in 0..<12 {
            if hasFix, index < satellitesUsed {
                writer.appendNumber(Int64(2 + index * 2), width: 2)
            } else {
                writer.appendEmptyFields()
            }
        }
        if hasFix {
            writer.appendNumber(hdop * 17 / 10, decimals: 2)
            writer.appendNumber(hdop, decimals: 2)
            writer.appendNumber(hdop * 14 / 10, decimals: 2)
        } else {
            writer.appendTexts("99.99", "99.99", "99.99")
        }
        writer.end()
    }

    private func writeGSV(_ satellites: [SimulatedSatellite], to writer: inout SentenceWriter) {
        let parts = (satellites.count + 3) / 4
        for part in 0..<parts {
            writer.begin("GPGSV")
            writer.appendNumber(Int64(parts))
            writer.appendNumber(Int64(part + 1))
            writer.appendNumber(Int64(satellites.count), width: 2)
            for satellite in satellites[(part * 4)..<min(part * 4 + 4, satellites.count)] {
                writer.appendNumber(satellite.number, width: 2)
                writer.appendNumber(satellite.elevation, width: 2)
                writer.appendNumber(satellite.azimuth, width: 3)
                if hasFix {
                    writer.appendNumber(satellite.carrierToNoise, width: 2)
                } else {
                    writer.appendEmptyFields()
                }
            }
            writer.end()
        }
    }

    private func writeGLL(to writer: inout SentenceWriter) {
        writer.begin("GNGLL")
        writeCoordinates(to: &writer)
        writer.appendTime(time)
        writer.appendTexts(hasFix ? "A" : "V", hasFix ? "A" : "N")
        writer.end()
    }

    private func writeCoordinates(to writer: inout SentenceWriter) {
        guard hasFix else {
            writer.appendEmptyFields(4)
            return
        }
        writer.appendCoordinate(latitude, degreeDigits: 2, positive: "N", negative: "S")
        writer.appendCoordinate(longitude, degreeDigits: 3, positive: "E", negative: "W")
    }

    private func writeCourse(to writer: inout SentenceWriter) {
        if hasFix, let course { writer.appendNumber(course, decimals: 2) } else { writer.appendEmptyFields() }
    }
}
