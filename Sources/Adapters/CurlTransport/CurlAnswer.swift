import HTTPMessages

/// The answer as it arrives: header lines, then the body, within their limits.
struct CurlAnswer {
    /// More than any server of ours sends; keeps an endless header from filling the memory.
    static let headerLimit = 64 * 1024

    private(set) var headers = HTTPHeaders()
    private(set) var body: [UInt8] = []
    /// Which limit was passed, in words.
    private(set) var excess: String?
    private let bodyLimit: Int
    private var headerBytes = 0

    init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    /// Takes a part of the body; false ends the transfer.
    mutating func append(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - body.count else {
            excess = "the answer is larger than \(bodyLimit) bytes"
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// Takes one header line; false ends the transfer.
    ///
    /// A status line begins anew: an interim answer (RFC 9110, section 15.2) came before.
    mutating func append(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerLimit else {
            excess = "the answer's header is larger than \(Self.headerLimit) bytes"
            return false
        }
        let line = unsafe String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
        } else if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.index(after: colon)...]
            headers.append(String(line[..<colon]), Self.trimmed(value))
        }
        return true
    }

    private static func trimmed(_ value: Substring) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
        let start = value.utf8.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex
        return String(Substring(start[..<end]))
    }
}
