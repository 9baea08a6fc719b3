import CCurl
import HTTPMessages
import ReportedText

/// The header lines of one request, in libcurl's list; freed with the value, which must outlive the transfer.
@safe struct CurlHeaderList: ~Copyable {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: `.transportFailed` for a field that would end its line early or is no field name; the message names
    ///   the field and never its value.
    init(_ headers: HTTPHeaders, origin: String) throws(HTTPTransportError) {
        unsafe head = nil
        for field in headers.fields {
            guard Self.isToken(field.name) else {
                throw HTTPTransportError(.transportFailed, "\(origin): a request header has an unusable name")
            }
            guard !field.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPTransportError(
                    .transportFailed, "\(origin): the value for header \(field.name) holds a line break or control byte"
                )
            }
            // libcurl sends a field with an empty value only when it ends with a semicolon.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // What libcurl would add by itself: bytes that nobody reads, or a wait before the body.
        for name in ["Accept", "Content-Type", "Expect"] where headers[name] == nil { append("\(name):") }
    }

    deinit { unsafe curl_slist_free_all(head) }

    private mutating func append(_ line: String) {
        if let longer = unsafe curl_slist_append(head, line) { unsafe head = unsafe longer }
    }

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
