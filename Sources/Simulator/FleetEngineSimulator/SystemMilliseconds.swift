import FoundationEssentials

/// The system clock, in milliseconds since 1970.
@Sendable func systemMilliseconds() -> Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
