import CCurl

/// One libcurl transfer handle: one owner, freed exactly once.
///
/// It must leave its `CurlMulti` before it goes.
@safe struct CurlEasy: ~Copyable {
    /// Tells handles apart in libcurl's reports.
    struct Identity: Hashable {
        private let address: UInt

        init(_ handle: UnsafeMutableRawPointer?) { address = UInt(bitPattern: handle) }
    }

    /// For the C calls of this module alone.
    let handle: UnsafeMutableRawPointer
    /// What the first refused option answered; every later call leaves it.
    private(set) var setupCode = CURLE_OK

    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    var identity: Identity { unsafe Identity(handle) }

    mutating func set(_ option: CURLoption, _ value: Int) { note(unsafe ccurl_set_long(handle, option, value)) }
    mutating func set(_ option: CURLoption, _ isOn: Bool) { set(option, isOn ? 1 : 0) }
    mutating func set(_ option: CURLoption, size: Int) {
        note(unsafe ccurl_set_size(handle, option, curl_off_t(size)))
    }
    mutating func set(_ option: CURLoption, _ text: String) { note(unsafe ccurl_set_string(handle, option, text)) }
    mutating func clear(_ option: CURLoption) { note(unsafe ccurl_clear_string(handle, option)) }

    /// Sends `bytes` as the body; libcurl keeps a copy.
    mutating func setBody(_ bytes: [UInt8]) {
        set(CURLOPT_POSTFIELDSIZE_LARGE, size: bytes.count)
        unsafe bytes.withUnsafeBytes { buffer in
            // An empty array may have no address, and an empty body is a body too.
            if let start = buffer.baseAddress, buffer.count > 0 {
                note(unsafe ccurl_set_body(handle, start))
            } else {
                set(CURLOPT_POSTFIELDS, "")
            }
        }
    }

    /// Records the result of an option that was set by a direct call.
    mutating func note(_ code: CURLcode) {
        if setupCode == CURLE_OK { setupCode = code }
    }

    /// A number that libcurl measured; zero when it has none.
    func number(_ information: CURLINFO) -> Int {
        var value = 0
        _ = unsafe ccurl_get_long(handle, information, &value)
        return value
    }

    /// A byte count that libcurl measured; zero when it has none.
    func size(_ information: CURLINFO) -> Int {
        var value: curl_off_t = 0
        _ = unsafe ccurl_get_size(handle, information, &value)
        return Int(value)
    }
}
