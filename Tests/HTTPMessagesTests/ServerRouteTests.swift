import HTTPMessages
import Testing

@Suite struct ServerRoutes {
    typealias Family = ServerRoute.AddressFamily

    /// The statuses of answers, and the positions, from 1, of the answers that end their connection.
    @Test(arguments: [
        ([503, 503, 503, 503, 503], [2, 4]), ([500, 502, 504], [2]), ([421, 503, 421], [2]),
        ([503, 200, 503, 429, 503], []), ([503, 400, 503], []), ([404, 429, 401, 408], []),
    ])
    func leaveAConnectionAfterTwoServerErrors(statuses: [Int], leavingAt: [Int]) {
        var route = ServerRoute()
        var left: [Int] = []
        for (index, status) in statuses.enumerated() {
            let expected = route.mustCloseConnection(after: status)
            let leaves = route.recordResponse(status: status)
            #expect(leaves == expected)
            if leaves { left.append(index + 1) }
        }
        #expect(left == leavingAt)
    }

    enum Event: Sendable { case failed(Family), answered(Int), notResolved(Bool), notConnected(Bool), networkChanged }

    /// Events, and the only family that the next connection may use after each. `notResolved` and `notConnected` state
    /// whether the exchange is repeated.
    @Test(
        arguments: [
            ([.failed(.ipv6), .answered(200), .answered(503)], [.ipv4, .ipv4, .ipv4]),
            ([.failed(.ipv4), .failed(.ipv6), .failed(.ipv4)], [.ipv6, nil, .ipv6]),
            ([.failed(.ipv6), .networkChanged], [.ipv4, nil]), ([.notResolved(false)], [nil]),
            // A family that has worked is kept while its server restarts.
            (
                [.failed(.ipv6), .answered(200), .notConnected(false), .failed(.ipv4)],
                [.ipv4, .ipv4, .ipv4, nil]
            ),
            // The name no longer has an address of the family, and the fault of the other family may be over.
            (
                [.failed(.ipv6), .answered(200), .notResolved(true), .failed(.ipv6)],
                [.ipv4, .ipv4, nil, .ipv4]
            ),
            (
                [.failed(.ipv4), .notResolved(true), .failed(.ipv4)],
                [.ipv6, nil, nil]
            ),
            (
                [.failed(.ipv4), .notConnected(true)] + [Event](repeating: .failed(.ipv4), count: 9),
                [.ipv6, nil, nil, nil, nil, nil, nil, nil, nil, nil, .ipv6]
            ),
        ] as [([Event], [Family?])])
    func tryTheOtherAddressFamilyAfterAFailure(events: [Event], families: [Family?]) {
        var route = ServerRoute()
        let seen = events.map { event -> Family? in
            switch event {
            case .failed(let family): route.recordFailure(over: family)
            case .answered(let status): _ = route.recordResponse(status: status)
            case .notResolved(let expected):
                let repeats = route.recordFailedConnect(isResolved: false)
                #expect(repeats == expected)
            case .notConnected(let expected):
                let repeats = route.recordFailedConnect(isResolved: true)
                #expect(repeats == expected)
            case .networkChanged: route.reset()
            }
            return route.family
        }
        #expect(seen == families)
    }

    /// Error codes, the duration of the exchange in seconds, and whether the failure counts against the address family
    /// of a connection that isn't established yet.
    @Test(
        arguments: [
            (.connectionFailed, 0, true), (.connectionLost, 0, true), (.tlsFailed, 0, true), (.timedOut, 1, true),
            (.nameNotResolved, 0, true), (.cancelled, 0, false), (.cancelled, 1.9, false), (.cancelled, 2, true),
            (.cancelled, 15, true), (.certificateNotTrusted, 3, false), (.transportFailed, 3, false),
        ] as [(HTTPTransportError.Code, Double, Bool)])
    func countFailuresAgainstTheFamily(code: HTTPTransportError.Code, seconds: Double, isCounted: Bool) {
        #expect(ServerRoute.mayBeDueToFamily(code, isConnected: false, after: .seconds(seconds)) == isCounted)
    }

    @Test(arguments: HTTPTransportError.Code.allCases)
    func countNothingAgainstTheFamilyOnceConnected(code: HTTPTransportError.Code) {
        #expect(!ServerRoute.mayBeDueToFamily(code, isConnected: true, after: .seconds(15)))
    }
}
