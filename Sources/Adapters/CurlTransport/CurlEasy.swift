import CCurl
import Glibc
import HTTPMessages
import ReportedText
import TimeAndRandomness

/// A libcurl easy handle, which performs one transfer. It is freed with this value, and must be removed from its
/// `CurlMulti` before that.
@safe struct CurlEasy: ~Copyable {
    /// The address of an easy handle, by which libcurl identifies a finished transfer.
    struct Identity: Hashable {
        private let address: UInt

        init(_ handle: UnsafeMutableRawPointer?) { address = UInt(bitPattern: handle) }
    }

    /// The easy handle, for calls of libcurl's C functions.
    let handle: UnsafeMutableRawPointer
    /// The first error that setting an option returned; `CURLE_OK` if libcurl accepted every option.
    private(set) var setupCode = CURLE_OK

    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    var identity: Identity { unsafe Identity(handle) }

    mutating func set(_ option: CURLoption, _ value: Int) { recordSetup(unsafe ccurl_set_long(handle, option, value)) }
    mutating func set(_ option: CURLoption, _ isOn: Bool) { set(option, isOn ? 1 : 0) }
    mutating func set(_ option: CURLoption, size: Int) {
        recordSetup(unsafe ccurl_set_size(handle, option, curl_off_t(size)))
    }
    mutating func set(_ option: CURLoption, _ text: String) {
        recordSetup(unsafe ccurl_set_string(handle, option, text))
    }
    mutating func clear(_ option: CURLoption) { recordSetup(unsafe ccurl_clear_string(handle, option)) }

    /// Sets the request's body to `bytes`, which libcurl copies.
    private mutating func setBody(_ bytes: [UInt8]) {
        set(CURLOPT_POSTFIELDSIZE_LARGE, size: bytes.count)
        unsafe bytes.withUnsafeBytes { buffer in
            // The buffer of an empty array may have no address, but libcurl needs one even for an empty body.
            if let start = buffer.baseAddress, buffer.count > 0 {
                recordSetup(unsafe ccurl_set_body(handle, start))
            } else {
                set(CURLOPT_POSTFIELDS, "")
            }
        }
    }

    /// Records the result of setting an option. Only the first error is kept.
    mutating func recordSetup(_ code: CURLcode) {
        if setupCode == CURLE_OK { setupCode = code }
    }

    /// Returns a number from libcurl's information about the transfer; zero if it is unknown.
    func number(_ information: CURLINFO) -> Int {
        var value = 0
        _ = unsafe ccurl_get_long(handle, information, &value)
        return value
    }

    /// The address family of the connection to the server; `nil` if there is no connection.
    var remoteFamily: ServerRoute.AddressFamily? {
        switch unsafe ccurl_remote_family(handle) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    /// Returns a size in bytes from libcurl's information about the transfer; zero if it is unknown.
    func size(_ information: CURLINFO) -> Int {
        var value: curl_off_t = 0
        _ = unsafe ccurl_get_size(handle, information, &value)
        return Int(value)
    }
}

extension CurlEasy {
    /// The time at which the server's certificate, the first of its chain, expires. `nil` if this transfer made no TLS
    /// connection, or if its options don't request the chain.
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
    /// Sets the options that are the same for every transfer of a transport. They include TLS verification, the trusted
    /// authorities and the proxy.
    mutating func apply(_ options: CurlTransportOptions) {
        set(CURLOPT_NOSIGNAL, true)
        recordSetup(unsafe ccurl_restrict_protocols(handle))
        recordSetup(unsafe ccurl_abandon_name_lookups(handle))
        set(CURLOPT_FOLLOWLOCATION, false)
        if let proxy = options.proxy {
            apply(proxy, caFile: options.caFile)
        } else {
            set(CURLOPT_PROXY, "")  // an empty name also disables proxies set in the environment
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
            set(CURLOPT_KEYPASSWD, "")  // otherwise the TLS library would prompt for a password on the terminal
        }
        if options.reportsCertificateEnd { set(CURLOPT_CERTINFO, true) }
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        set(CURLOPT_TCP_KEEPALIVE, true)  // `CurlSockets` sets the intervals of the probes
        // Lets libcurl decode every content coding that it knows. `CurlHeaderList` removes the request header that this
        // would add, so no compression is requested.
        set(CURLOPT_ACCEPT_ENCODING, "")
    }

    /// Sends every request through a tunnel that `proxy` opens. The proxy sees the server's name, but TLS hides
    /// requests and responses from it.
    private mutating func apply(_ proxy: HTTPProxy, caFile: String?) {
        set(CURLOPT_PROXY, proxy.origin)
        set(CURLOPT_NOPROXY, "")  // uses the proxy for every host, even those in `no_proxy`
        set(CURLOPT_HTTPPROXYTUNNEL, true)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        set(CURLOPT_HEADEROPT, ccurl_headers_to_server_only)  // so that the proxy doesn't receive the token
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

    /// Sets the URL, the method, the body, and those limits that libcurl enforces.
    mutating func apply(_ request: HTTPRequest) {
        set(CURLOPT_URL, request.url.description)
        set(CURLOPT_PATH_AS_IS, true)  // otherwise libcurl would remove `/../` from the path
        // One HTTP/2 connection can carry all requests. So a second request waits until the protocol of the first
        // connection is known, instead of opening another connection.
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

/// The header lines of one request, as a libcurl list. The list is freed with this value, which must outlive the
/// transfer.
@safe struct CurlHeaderList: ~Copyable {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: `.transportFailed` if a name isn't a valid field name, or if a value contains a character that could
    ///   end its line early. The message never contains the value.
    init(_ headers: HTTPHeaders, origin: String) throws(HTTPTransportError) {
        unsafe head = nil
        for field in headers.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(HTTPHeaders.isTokenByte) else {
                throw HTTPTransportError(.unusableHeaderName, to: origin)
            }
            guard !field.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPTransportError(.unusableHeaderValue(name: field.name), to: origin)
            }
            // libcurl sends a field with an empty value only if the line has a semicolon in place of the colon.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // libcurl adds these fields unless a line without a value removes them. They would cost bytes, and `Expect`
        // would delay the body.
        for name in ["Accept", "Accept-Encoding", "Content-Type", "Expect"] where headers[name] == nil {
            append("\(name):")
        }
    }

    deinit { unsafe curl_slist_free_all(head) }

    private mutating func append(_ line: String) {
        if let longer = unsafe curl_slist_append(head, line) { unsafe head = unsafe longer }
    }
}
