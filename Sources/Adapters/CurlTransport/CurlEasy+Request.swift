import CCurl
import HTTPMessages

extension CurlEasy {
    /// What every transfer has in common: whom it trusts, what it never does.
    mutating func applySafety(_ options: CurlTransportOptions) {
        set(CURLOPT_NOSIGNAL, true)
        note(unsafe ccurl_restrict_protocols(handle))
        note(unsafe ccurl_abandon_name_lookups(handle))
        set(CURLOPT_FOLLOWLOCATION, false)
        set(CURLOPT_PROXY, "")  // an empty name also shuts out the environment's proxies
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
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_DNS_CACHE_TIMEOUT, 60)
        set(CURLOPT_TCP_KEEPALIVE, true)
        set(CURLOPT_TCP_KEEPIDLE, 60)
        set(CURLOPT_TCP_KEEPINTVL, 15)
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
