import Glibc

/// A moment as the `Date` header has it (RFC 9110, 5.6.7): `Mon, 05 Jan 2026 10:15:30 GMT`.
func httpDate(secondsSince1970: Int) -> String {
    var seconds = time_t(secondsSince1970)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let (day, month, year) = unsafe (Int(parts.tm_mday), Int(parts.tm_mon), Int(parts.tm_year) + 1900)
    let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits(Int($0)) }.joined(separator: ":")
    return unsafe "\(days[Int(parts.tm_wday)]), \(twoDigits(day)) \(months[month]) \(year) \(time) GMT"
}

private func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
