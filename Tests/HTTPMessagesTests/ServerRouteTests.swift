import HTTPMessages
import Testing

@Suite struct ServerRoutes {
    typealias Family = ServerRoute.AddressFamily

    /// The statuses of answers, and which of them end their connection, from 1.
    @Test(arguments: [
        ([503, 503, 503, 503, 503, 503], [3, 6]), ([500, 502, 504], [3]), ([421, 503, 421], [3]),
        ([503, 503, 200, 503, 503, 429, 503, 503], []), ([503, 503, 400, 503], []), ([404, 429, 401, 408], []),
    ])
    func leaveAConnectionAfterThreeServerErrors(statuses: [Int], leavingAt: [Int]) {
        var route = ServerRoute()
        var left: [Int] = []
        for (index, status) in statuses.enumerated() {
            let expected = route.leavesConnection(after: status)
            let leaves = route.answered(status: status)
            #expect(leaves == expected)
            if leaves { left.append(index + 1) }
        }
        #expect(left == leavingAt)
    }

    enum Event: Sendable { case failed(Family), answered(Int), couldNotConnect(Bool), networkChanged }

    /// What happened, and the only family that the next connection may use after each.
    @Test(
        arguments: [
            ([.failed(.ipv6), .answered(200), .answered(503)], [.ipv4, .ipv4, .ipv4]),
            ([.failed(.ipv4), .failed(.ipv6), .failed(.ipv4)], [.ipv6, nil, .ipv6]),
            ([.failed(.ipv6), .networkChanged], [.ipv4, nil]), ([.couldNotConnect(false)], [nil]),
            // A server that restarts doesn't make a family that has worked a bad one.
            (
                [.failed(.ipv6), .answered(200), .couldNotConnect(false), .failed(.ipv4), .failed(.ipv6)],
                [.ipv4, .ipv4, .ipv4, nil, .ipv4]
            ),
            (
                [.failed(.ipv4), .couldNotConnect(true)] + [Event](repeating: .failed(.ipv4), count: 9),
                [.ipv6, nil, nil, nil, nil, nil, nil, nil, nil, nil, .ipv6]
            ),
        ] as [([Event], [Family?])])
    func tryTheOtherFamilyAfterAFailure(events: [Event], families: [Family?]) {
        var route = ServerRoute()
        let seen = events.map { event -> Family? in
            switch event {
            case .failed(let family): route.failed(over: family)
            case .answered(let status): _ = route.answered(status: status)
            case .couldNotConnect(let isForFamily):
                let repeats = route.couldNotConnect()
                #expect(repeats == isForFamily)
            case .networkChanged: route.networkChanged()
            }
            return route.family
        }
        #expect(seen == families)
    }
}
