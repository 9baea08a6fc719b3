// CurlTransport
