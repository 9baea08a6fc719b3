import Testing

@testable import CurlTransport

@Suite struct Places {
    @Test(
        arguments: [
            (256, nil, 256, 100), (256, false, 256, 256), (256, true, 5, 500),
            (16, nil, 16, 100), (16, false, 16, 16), (16, true, 5, 500), (1, true, 1, 100), (0, false, 1, 1),
        ] as [(Int, Bool?, Int, Int)])
    func dependOnTheProtocol(maximum: Int, isHTTP2: Bool?, connections: Int, transfers: Int) {
        var places = TransferPlaces(maximumConnections: maximum)
        if let isHTTP2 { _ = places.recordAnswer(overHTTP2: isHTTP2) }
        #expect(places.connections == connections && places.transfers == transfers)
    }

    @Test func changeWithTheProtocolOfTheServer() {
        var places = TransferPlaces(maximumConnections: 8)
        let changes = [true, true, false, false, true].map { isHTTP2 in places.recordAnswer(overHTTP2: isHTTP2) }
        #expect(changes == [true, false, true, false, true])
    }
}
