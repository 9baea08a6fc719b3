import CCurl
import Glibc
import HTTPMessages
import ReportedText
import TimeAndChance

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
    private mutating func setBody(_ bytes: [UInt8]) {
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

    /// The address family of the server's end of the connection; `nil` if there has been none.
    var remoteFamily: ServerRoute.AddressFamily? {
        switch unsafe ccurl_remote_family(handle) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    /// A byte count that libcurl measured; zero when it has none.
    func size(_ information: CURLINFO) -> Int {
        var value: curl_off_t = 0
        _ = unsafe ccurl_get_size(handle, information, &value)
        return Int(value)
    }
}

extension CurlEasy {
    /// When the server's own certificate ends, which comes first in its chain; `nil` where the transfer made no TLS
    /// connection of its own, or its options do not ask for that.
    var certificateEnd: UTCTime? {
        guard let chain = unsafe ccurl_get_certificates(handle)?.pointee, unsafe chain.num_of_certs > 0,
            unsafe chain.certinfo != nil
        else { return nil }
        let name = Array("Cert:".utf8)
        var entry = unsafe chain.certinfo[0]
        while let next = unsafe entry {
            let text = unsafe UnsafeRawBufferPointer(start: next.pointee.data, count: strlen(next.pointee.data))
            if unsafe text.starts(with: name) {
                return CertificateValidity.each(inPEM: unsafe Array(text.dropFirst(name.count))).first?.end
            }
            unsafe entry = unsafe next.pointee.next
        }
        return nil
    }
}

extension CurlEasy {
    /// What every transfer has in common: whom it trusts, what it never does.
    mutating func applySafety(_ options: CurlTransportOptions) {
        set(CURLOPT_NOSIGNAL, true)
        note(unsafe ccurl_restrict_protocols(handle))
        note(unsafe ccurl_abandon_name_lookups(handle))
        set(CURLOPT_FOLLOWLOCATION, false)
        if let proxy = options.proxy {
            apply(proxy, caFile: options.caFile)
        } else {
            set(CURLOPT_PROXY, "")  // an empty name also shuts out the environment's proxies
        }
        set(CURLOPT_HTTP_VERSION, ccurl_http_version_2_over_tls)
        set(CURLOPT_SSLVERSION, ccurl_tls_1_2_or_newer)
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let caFile = options.caFile {
            set(CURLOPT_CAINFO, caFile)
            clear(CURLOPT_CAPATH)  // otherwise the system's authorities would be trusted beside the file's
        }
        if let certificate = options.clientCertificate {
            set(CURLOPT_SSLCERT, certificate.certificateFile)
            set(CURLOPT_SSLKEY, certificate.keyFile)
            set(CURLOPT_KEYPASSWD, "")  // without one the TLS library would ask for it at the terminal
        }
        if options.tellsCertificateEnd { set(CURLOPT_CERTINFO, true) }
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        set(CURLOPT_TCP_KEEPALIVE, true)  // its times are those of CurlSockets
        // Decodes what libcurl can; CurlHeaderList sees to it that nothing is asked for.
        set(CURLOPT_ACCEPT_ENCODING, "")
    }

    /// A tunnel through `proxy` for every request. The proxy sees the server's name, and neither request nor answer.
    private mutating func apply(_ proxy: HTTPProxy, caFile: String?) {
        set(CURLOPT_PROXY, proxy.origin)
        set(CURLOPT_NOPROXY, "")  // for every host, whatever the environment says
        set(CURLOPT_HTTPPROXYTUNNEL, true)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        set(CURLOPT_HEADEROPT, ccurl_headers_to_server_only)  // no token to the proxy
        set(CURLOPT_PROXYAUTH, ccurl_basic_authentication)
        set(CURLOPT_SOCKS5_AUTH, ccurl_basic_authentication)
        if let login = proxy.login {
            set(CURLOPT_PROXYUSERNAME, login.user)
            set(CURLOPT_PROXYPASSWORD, login.password)
        }
        set(CURLOPT_PROXY_SSLVERSION, ccurl_tls_1_2_or_newer)
        set(CURLOPT_PROXY_SSL_VERIFYPEER, true)
        set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        if let caFile {
            set(CURLOPT_PROXY_CAINFO, caFile)
            clear(CURLOPT_PROXY_CAPATH)
        }
    }

    /// Address, method, body and the limits that libcurl itself watches.
    mutating func apply(_ request: HTTPRequest) {
        set(CURLOPT_URL, request.url.description)
        set(CURLOPT_PATH_AS_IS, true)  // `/../` goes out as the caller wrote it
        // One HTTP/2 connection serves everybody, so the second request waits to learn whether there will be one.
        set(CURLOPT_PIPEWAIT, request.url.scheme == .https)
        if request.method == .head {
            set(CURLOPT_NOBODY, true)
        } else if request.body.isEmpty, request.method == .get || request.method == .delete {
            set(CURLOPT_HTTPGET, true)
            if request.method == .delete { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        } else {
            set(CURLOPT_POST, true)
            setBody(request.body)
            set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
        let limits = request.limits
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, limits.connect.wholeMilliseconds))
        set(CURLOPT_MAXFILESIZE_LARGE, size: max(1, limits.responseBytes))  // zero would mean without limit
    }
}

/// The header lines of one request, in libcurl's list; freed with the value, which must outlive the transfer.
@safe struct CurlHeaderList: ~Copyable {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: `.transportFailed` for a field that would end its line early or is no field name; the message names
    ///   the field and never its value.
    init(_ headers: HTTPHeaders, origin: String) throws(HTTPTransportError) {
        unsafe head = nil
        for field in headers.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
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
        // What libcurl would add by itself: bytes that are not read, or a wait before the body.
        for name in ["Accept", "Accept-Encoding", "Content-Type", "Expect"] where headers[name] == nil {
            append("\(name):")
        }
    }

    deinit { unsafe curl_slist_free_all(head) }

    private mutating func append(_ line: String) {
        if let longer = unsafe curl_slist_append(head, line) { unsafe head = unsafe longer }
    }
}
