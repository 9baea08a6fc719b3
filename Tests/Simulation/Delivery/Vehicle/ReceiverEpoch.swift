import ReceiverSimulator
import TimeAndRandomness

/// The contents of a receiver's sentences for one moment.
struct ReceiverEpoch {
    var time: UTCTime
    var hasFix = true
    var latitude: Double
    var longitude: Double
    /// The speed in metres per second.
    var speed: Double
    /// The course in whole degrees.
    var course: Int
    var dilution = 0.9
    /// Whether a GSA sentence is also written.
    var isVerbose = false

    func write(with writer: inout SentenceWriter) {
        writeMinimum(&writer)
        writeData(&writer)
        if isVerbose { writeSolution(&writer) }
    }

    private func writeMinimum(_ writer: inout SentenceWriter) {
        writer.begin("GNRMC")
        writer.appendTime(time)
        writer.appendTexts(hasFix ? "A" : "V")
        writePlace(&writer)
        if hasFix {
            writer.appendNumber(Int64(speed / 0.514444 * 1000), decimals: 3)
        } else {
            writer.appendEmptyFields()
        }
        if hasFix, speed > 0.4 {
            writer.appendNumber(Int64(course) * 100, decimals: 2)
        } else {
            writer.appendEmptyFields()
        }
        writer.appendDate(time)
        writer.appendEmptyFields(2)
        writer.appendTexts(hasFix ? "A" : "N")
        writer.end()
    }

    private func writeData(_ writer: inout SentenceWriter) {
        writer.begin("GNGGA")
        writer.appendTime(time)
        writePlace(&writer)
        writer.appendTexts(hasFix ? "1" : "0")
        writer.appendTexts("09")
        writer.appendNumber(Int64(dilution * 100), decimals: 2)
        writer.appendTexts(hasFix ? "12.0" : "")
        writer.appendTexts("M")
        writer.appendTexts(hasFix ? "39.6" : "")
        writer.appendTexts("M")
        writer.appendEmptyFields(2)
        writer.end()
    }

    private func writeSolution(_ writer: inout SentenceWriter) {
        writer.begin("GNGSA")
        writer.appendTexts("A")
        writer.appendTexts(hasFix ? "3" : "1")
        for satellite in 0..<9 { writer.appendNumber(Int64(satellite * 2 + 2), width: 2) }
        writer.appendEmptyFields(3)
        for _ in 0..<3 { writer.appendNumber(Int64(dilution * 100), decimals: 2) }
        writer.end()
    }

    private func writePlace(_ writer: inout SentenceWriter) {
        guard hasFix else { return writer.appendEmptyFields(4) }
        func units(_ degrees: Double) -> Int64 { Int64((degrees * 6_000_000).rounded()) }
        writer.appendCoordinate(units(latitude), degreeDigits: 2, positive: "N", negative: "S")
        writer.appendCoordinate(units(longitude), degreeDigits: 3, positive: "E", negative: "W")
    }
}
