import ReceiverSimulator
import TimeAndChance

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
        writer.time(time)
        writer.text(hasFix ? "A" : "V")
        writePlace(&writer)
        if hasFix { writer.number(Int64(speed / 0.514444 * 1000), decimals: 3) } else { writer.empty() }
        if hasFix, speed > 0.4 { writer.number(Int64(course) * 100, decimals: 2) } else { writer.empty() }
        writer.date(time)
        writer.empty(2)
        writer.text(hasFix ? "A" : "N")
        writer.end()
    }

    private func writeData(_ writer: inout SentenceWriter) {
        writer.begin("GNGGA")
        writer.time(time)
        writePlace(&writer)
        writer.text(hasFix ? "1" : "0")
        writer.text("09")
        writer.number(Int64(dilution * 100), decimals: 2)
        writer.text(hasFix ? "12.0" : "")
        writer.text("M")
        writer.text(hasFix ? "39.6" : "")
        writer.text("M")
        writer.empty(2)
        writer.end()
    }

    private func writeSolution(_ writer: inout SentenceWriter) {
        writer.begin("GNGSA")
        writer.text("A")
        writer.text(hasFix ? "3" : "1")
        for satellite in 0..<9 { writer.number(Int64(satellite * 2 + 2), width: 2) }
        writer.empty(3)
        for _ in 0..<3 { writer.number(Int64(dilution * 100), decimals: 2) }
        writer.end()
    }

    private func writePlace(_ writer: inout SentenceWriter) {
        guard hasFix else { return writer.empty(4) }
        func units(_ degrees: Double) -> Int64 { Int64((degrees * 6_000_000).rounded()) }
        writer.coordinate(units(latitude), degreeDigits: 2, positive: "N", negative: "S")
        writer.coordinate(units(longitude), degreeDigits: 3, positive: "E", negative: "W")
    }
}
