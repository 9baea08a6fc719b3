import CCurl
import Glibc
import HTTPMessages
import ReportedText
import TimeAndChance

/// A libcurl transfer handle with one owner, which frees it exactly once. Before that, the handle must be removed from
/// its `CurlMulti`.
@safe struct CurlEasy: ~Copyable {
    /// The identity of a handle in libcurl's reports.
    struct Identity: Hashable {
        private let address: UInt

        init(_ handle: UnsafeMutableRawPointer?) { address = UInt(bitPattern: handle) }
    }

    /// The handle for C calls within this module only.
    let handle: UnsafeMutableRawPointer
    /// The first error from setting an option; later calls don't change it.
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

    /// Sends `bytes` as the body. libcurl keeps a copy.
    private mutating func setBody(_ bytes: [UInt8]) {
        set(CURLOPT_POSTFIELDSIZE_LARGE, size: bytes.count)
        unsafe bytes.withUnsafeBytes { buffer in
            // An empty array may have no address, but an empty body is also a body.
            if let start = buffer.baseAddress, buffer.count > 0 {
                note(unsafe ccurl_set_body(handle, start))
            } else {
                set(CURLOPT_POSTFIELDS, "")
            }
        }
    }

    /// Records the result of a direct call that set an option.
    mutating func note(_ code: CURLcode) {
        if setupCode == CURLE_OK { setupCode = code }
    }

    /// Returns a number that libcurl measured; zero if it has none.
    func number(_ information: CURLINFO) -> Int {
        var value = 0
        _ = unsafe ccurl_get_long(handle, information, &value)
        return value
    }

    /// The address family of the connection to the server; `nil` without a connection.
    var remoteFamily: ServerRoute.AddressFamily? {
        switch unsafe ccurl_remote_family(handle) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    /// Returns a byte count that libcurl measured; zero if it has none.
    func size(_ information: CURLINFO) -> Int {
        var value: curl_off_t = 0
        _ = unsafe ccurl_get_size(handle, information, &value)
        return Int(value)
    }
}

extension CurlEasy {
    /// The time at which the server's own certificate, the first of its chain, expires; `nil` if this transfer made no
    /// TLS connection, or if its options don't request the chain.
    var certificateEnd: UTCTime? {
        guard let chain = unsafe ccurl_get_certificates(handle)?.pointee, unsafe chain.num_of_certs > 0,
            unsafe chain.certinfo != nil
        else { return nil }
        let name = Array("Cert:".utf8)
        var entry = unsafe chain.certinfo[0]
        while let next = unsafe entry {
            let text = unsafe UnsafeRawBufferPointer(start: next.pointee.data, count: strlen(next.pointee.data))
            if unsafe text.starts(with: name) {
                return CertificateValidity.all(inPEM: unsafe Array(text.dropFirst(name.count))).first?.end
            }
            unsafe entry = unsafe next.pointee.next
        }
        return nil
    }
}

extension CurlEasy {
    /// Sets the options that every transfer shares: the trusted authorities, and which features are disabled.
    mutating func applySafety(_ options: CurlTransportOptions) {
        set(CURLOPT_NOSIGNAL, true)
        note(unsafe ccurl_restrict_protocols(handle))
        note(unsafe ccurl_abandon_name_lookups(handle))
        set(CURLOPT_FOLLOWLOCATION, false)
        if let proxy = options.proxy {
            apply(proxy, caFile: options.caFile)
        } else {
            set(CURLOPT_PROXY, "")  // an empty name also disables the environment's proxies
        }
        set(CURLOPT_HTTP_VERSION, ccurl_http_version_2_over_tls)
        set(CURLOPT_SSLVERSION, ccurl_tls_1_2_or_newer)
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let caFile = options.caFile {
            set(CURLOPT_CAINFO, caFile)
            clear(CURLOPT_CAPATH)  // otherwise the system's authorities would be trusted in addition to the file's
        }
        if let certificate = options.clientCertificate {
            set(CURLOPT_SSLCERT, certificate.certificateFile)
            set(CURLOPT_SSLKEY, certificate.keyFile)
            set(CURLOPT_KEYPASSWD, "")  // otherwise the TLS library would ask for a password at the terminal
        }
        if options.reportsCertificateEnd { set(CURLOPT_CERTINFO, true) }
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        set(CURLOPT_TCP_KEEPALIVE, true)  // CurlSockets sets the intervals
        // Decodes every coding that libcurl knows; CurlHeaderList makes sure that no compression is requested.
        set(CURLOPT_ACCEPT_ENCODING, "")
    }

    /// Sends every request through a tunnel that `proxy` opens. The proxy sees the server's name, but neither the
    /// request nor the answer.
    private mutating func apply(_ proxy: HTTPProxy, caFile: String?) {
        set(CURLOPT_PROXY, proxy.origin)
        set(CURLOPT_NOPROXY, "")  // for every host, whatever the environment says
        set(CURLOPT_HTTPPROXYTUNNEL, true)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        set(CURLOPT_HEADEROPT, ccurl_headers_to_server_only)  // the proxy gets no token
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

    /// Sets the URL, the method, the body, and the limits that libcurl itself enforces.
    mutating func apply(_ request: HTTPRequest) {
        set(CURLOPT_URL, request.url.description)
        set(CURLOPT_PATH_AS_IS, true)  // sends `/../` as the caller wrote it
        // One HTTP/2 connection serves all requests, so the second request waits until the first connection's protocol
        // is known.
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
        set(CURLOPT_MAXFILESIZE_LARGE, size: max(1, limits.responseBytes))  // zero would mean no limit
    }
}

/// libcurl's list of the header lines of one request. It must outlive the transfer, and is freed with this value.
@safe struct CurlHeaderList: ~Copyable {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: `.transportFailed` for a name that isn't a field name, or a value that would end its line early. The
    ///   message never contains the value.
    init(_ headers: HTTPHeaders, origin: String) throws(HTTPTransportError) {
        unsafe head = nil
        for field in headers.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
                throw HTTPTransportError(.transportFailed, "\(origin): a request header has an unusable name")
            }
            guard !field.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPTransportError(
                    .transportFailed,
                    "\(origin): the value for header \(field.name) contains a line break or a control character"
                )
            }
            // libcurl sends a field with an empty value only if it ends with a semicolon.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // libcurl would add these by itself, which would cost bytes or a wait before the body.
        for name in ["Accept", "Accept-Encoding", "Content-Type", "Expect"] where headers[name] == nil {
            append("\(name):")
        }
    }

    deinit { unsafe curl_slist_free_all(head) }

    private mutating func append(_ line: String) {
        if let longer = unsafe curl_slist_append(head, line) { unsafe head = unsafe longer }
    }
}
