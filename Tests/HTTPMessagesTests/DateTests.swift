import HTTPMessages
import Testing

@Suite struct Dates {
    @Test(
        arguments: [
            ("0", nil, 0), ("120", nil, 120), ("-1", nil, nil), ("1.5", nil, nil), ("soon", nil, nil),
            ("999999999", nil, nil),
            ("Sun, 06 Nov 1994 08:50:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 30),
            ("Sun, 06 Nov 1994 08:49:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1994 08:50:07 GMT", nil, nil),
        ] as [(String, String?, Int64?)])
    func determineTheRetryDelay(value: String, date: String?, seconds: Int64?) {
        var headers = HTTPHeaders()
        headers["retry-after"] = value
        if let date { headers["date"] = date }
        #expect(headers.retryAfter == seconds.map { .seconds($0) })
    }
}
