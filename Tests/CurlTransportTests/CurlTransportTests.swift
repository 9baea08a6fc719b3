// CurlTransportTests
