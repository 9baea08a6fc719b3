import FoundationEssentials

/// Base64 with padding (RFC 4648, section 4), as HTTP Basic wants it.
func base64Encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
