import TimeAndChance

/// Writes an epoch as NMEA 0183 sentences into a buffer that is used again.
struct SentencePen {
    private(set) var bytes: [UInt8] = []
    private var start = 0

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    /// RMC and GGA, and GSA where there is time for it.
    mutating func write(_ epoch: ReceiverEpoch) {
        writeMinimum(epoch)
        writeData(epoch)
        if epoch.isVerbose { writeSolution(epoch) }
    }

    /// Bytes as they are: noise.
    mutating func write(noise: some Sequence<UInt8>) { bytes.append(contentsOf: noise) }

    /// Turns one bit at `index` over.
    mutating func damage(at index: Int, bit: Int) { bytes[index] ^= 1 << UInt8(bit) }

    private mutating func writeMinimum(_ epoch: ReceiverEpoch) {
        begin("GNRMC")
        writeTime(epoch.time)
        text(epoch.hasFix ? "A" : "V")
        writePlace(epoch)
        if epoch.hasFix { number(Int64(epoch.speed / 0.514444 * 1000), decimals: 3) } else { empty() }
        if epoch.hasFix, epoch.speed > 0.4 { number(Int64(epoch.course) * 100, decimals: 2) } else { empty() }
        let (year, month, day) = epoch.time.civilDate
        number(Int64(day * 10_000 + month * 100 + year % 100), width: 6)
        empty()
        empty()
        text(epoch.hasFix ? "A" : "N")
        end()
    }

    private mutating func writeData(_ epoch: ReceiverEpoch) {
        begin("GNGGA")
        writeTime(epoch.time)
        writePlace(epoch)
        text(epoch.hasFix ? "1" : "0")
        text("09")
        number(Int64(epoch.dilution * 100), decimals: 2)
        text(epoch.hasFix ? "12.0" : "")
        text("M")
        text(epoch.hasFix ? "39.6" : "")
        text("M")
        empty()
        empty()
        end()
    }

    private mutating func writeSolution(_ epoch: ReceiverEpoch) {
        begin("GNGSA")
        text("A")
        text(epoch.hasFix ? "3" : "1")
        for satellite in 0..<12 { if satellite < 9 { number(Int64(satellite * 2 + 2), width: 2) } else { empty() } }
        for _ in 0..<3 { number(Int64(epoch.dilution * 100), decimals: 2) }
        end()
    }

    private mutating func writePlace(_ epoch: ReceiverEpoch) {
        guard epoch.hasFix else {
            for _ in 0..<4 { empty() }
            return
        }
        coordinate(epoch.latitude, degreeDigits: 2)
        text(epoch.latitude < 0 ? "S" : "N")
        coordinate(epoch.longitude, degreeDigits: 3)
        text(epoch.longitude < 0 ? "W" : "E")
    }

    private mutating func writeTime(_ time: UTCTime) {
        let ofDay = Int64(time.millisecondOfDay)
        let clock = ofDay / 3_600_000 * 10_000 + ofDay / 60_000 % 60 * 100 + ofDay / 1000 % 60
        number(clock * 100 + ofDay % 1000 / 10, decimals: 2, width: 6)
    }

    // MARK: Fields

    private mutating func begin(_ address: StaticString) {
        bytes.append(UInt8(ascii: "$"))
        start = bytes.count
        append(address)
    }

    private mutating func end() {
        var sum: UInt8 = 0
        for index in start..<bytes.count { sum ^= bytes[index] }
        bytes.append(UInt8(ascii: "*"))
        for digit in [sum >> 4, sum & 15] { bytes.append(digit < 10 ? 48 + digit : 55 + digit) }
        bytes.append(13)
        bytes.append(10)
    }

    private mutating func empty() { bytes.append(UInt8(ascii: ",")) }

    private mutating func text(_ text: StaticString) {
        empty()
        append(text)
    }

    private mutating func append(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func coordinate(_ degrees: Double, degreeDigits: Int) {
        let units = Int64((abs(degrees) * 6_000_000).rounded())
        number(units / 6_000_000 * 10_000_000 + units % 6_000_000, decimals: 5, width: degreeDigits + 2)
    }

    /// A number in units of its last decimal, with at least `width` digits before the point.
    private mutating func number(_ value: Int64, decimals: Int = 0, width: Int = 1) {
        empty()
        var divisor: Int64 = 1
        var digits = 1
        while digits < decimals + width || value / divisor >= 10 {
            divisor *= 10
            digits += 1
        }
        var rest = value
        while digits > 0 {
            if digits == decimals { bytes.append(UInt8(ascii: ".")) }
            bytes.append(48 + UInt8(rest / divisor))
            rest %= divisor
            divisor /= 10
            digits -= 1
        }
    }
}
