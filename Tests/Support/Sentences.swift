/// A sentence with its checksum and line end.
package func sentence(_ body: String, start: String = "$", ending: String = "\r\n") -> String {
    let digits = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return "\(start)\(body)*\(digits.utf8.count < 2 ? "0" : "")\(digits)\(ending)"
}

/// One epoch at `second` of 2026-01-05T10:15, a vehicle going north.
package func epoch(second: Int, minute: Int = 15) -> String {
    let time = "10\(padded(minute))\(padded(second)).000"
    let latitude = "48\(padded(second)).5000"
    return sentence("GPGGA,\(time),\(latitude),N,01131.2000,E,1,08,1.1,520.0,M,47.0,M,,")
        + sentence("GPRMC,\(time),A,\(latitude),N,01131.2000,E,22.4,84.4,050126,,,A")
}

private func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
