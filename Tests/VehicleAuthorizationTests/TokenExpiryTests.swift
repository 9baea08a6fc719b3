import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite struct TokenExpiries {
    /// 2026-01-05T00:00:00Z, when all tokens in these tests are issued.
    static let issueTime = 1_767_571_200.0

    /// Returns an expiry that is stated as a number next to the token.
    private func statedExpiry(_ value: Double?) -> StatedExpiry? {
        value.map { StatedExpiry(key: "TTL", text: "\($0)", meaning: .number($0)) }
    }

    private func token(withClaims text: String) throws -> JSONWebToken {
        try JSONWebToken(TestTokens.token(payload: text))
    }

    @Test(
        arguments: [
            (3600.0, ExpirationFormat.automatic, 3600), (issueTime + 1800, .automatic, 1800),
            ((issueTime + 1800) * 1000, .automatic, 1800), (3600, .secondsFromNow, 3600),
            (issueTime + 60, .epochSeconds, 60), ((issueTime + 60) * 1000, .epochMilliseconds, 60),
            (0.5, .secondsFromNow, 0),
        ])
    func expiriesOfOpaqueTokensAreStatedByTheIssuer(stated: Double, format: ExpirationFormat, seconds: Int) {
        let expiry = TokenExpiry(
            token: nil, stated: statedExpiry(stated), format: format, issuerTime: nil, localTime: Self.issueTime)
        #expect(expiry.lifetime?.components.seconds == Int64(seconds))
        #expect(expiry.warnings == [])
    }

    static let localTimes: [Double] = [0, 3_786_912_000, issueTime, issueTime + 3600, issueTime - 3600]
    static let statedForAnHour: [(Double, ExpirationFormat)] = [
        (3600, .automatic), (issueTime + 3600, .automatic), ((issueTime + 3600) * 1000, .automatic),
        (3600, .secondsFromNow), (issueTime + 3600, .epochSeconds), ((issueTime + 3600) * 1000, .epochMilliseconds),
    ]

    // Separate tables, because Swift 6.2 can't infer them as arguments of the attribute.
    @Test(arguments: localTimes, statedForAnHour)
    func expiriesOfWebTokensDoNotDependOnThisMachinesClock(localTime: Double, stated: (Double, ExpirationFormat)) throws
    {
        let token = try token(withClaims: #"{"iat":\#(Int(Self.issueTime)),"exp":\#(Int(Self.issueTime) + 3600)}"#)
        let expiry = TokenExpiry(
            token: token, stated: statedExpiry(stated.0), format: stated.1, issuerTime: nil, localTime: localTime)
        #expect(expiry.lifetime == .seconds(3600))
        #expect(expiry.warnings == [])
    }

    enum LocalClock: Double, CaseIterable {
        case right = 1_767_571_200
        case of1970 = 0
        case of2080 = 3_471_292_800
        case anHourFast = 1_767_574_800
        case anHourSlow = 1_767_567_600
    }

    /// A stated expiry that means a lifetime of one hour.
    struct Statement: Sendable, CustomTestStringConvertible {
        /// Whether the token is a JSON Web Token with `exp`.
        let hasExp: Bool
        let stated: Double?
        let format: ExpirationFormat
        /// The lifetime in seconds by each local clock if neither `iat` nor `Date` states the time: right, 1970, 2080,
        /// an hour fast, an hour slow.
        let lifetimesByLocalClock: [Int?]

        var testDescription: String { "\(format) \(stated.map { "\($0)" } ?? "nothing"), exp: \(hasExp)" }
    }

    /// No clock makes a lifetime expired or endless, but the lifetime may be unknown (`nil`).
    static let lifetimesByExp: [Int?] = [3600, nil, nil, nil, nil]
    static let lifetimesByLength: [Int?] = [3600, 3600, 3600, 3600, 3600]
    static let statements: [Statement] = [
        Statement(hasExp: true, stated: nil, format: .automatic, lifetimesByLocalClock: lifetimesByExp),
        Statement(hasExp: true, stated: 3600, format: .automatic, lifetimesByLocalClock: lifetimesByLength),
        Statement(hasExp: true, stated: issueTime + 3600, format: .automatic, lifetimesByLocalClock: lifetimesByExp),
        Statement(
            hasExp: true, stated: (issueTime + 3600) * 1000, format: .automatic, lifetimesByLocalClock: lifetimesByExp),
        Statement(hasExp: true, stated: 3600, format: .secondsFromNow, lifetimesByLocalClock: lifetimesByLength),
        Statement(hasExp: true, stated: issueTime + 3600, format: .epochSeconds, lifetimesByLocalClock: lifetimesByExp),
        Statement(
            hasExp: true, stated: (issueTime + 3600) * 1000, format: .epochMilliseconds,
            lifetimesByLocalClock: lifetimesByExp),
        Statement(hasExp: false, stated: 3600, format: .automatic, lifetimesByLocalClock: lifetimesByLength),
        Statement(hasExp: false, stated: issueTime + 3600, format: .automatic, lifetimesByLocalClock: lifetimesByExp),
        Statement(
            hasExp: false, stated: (issueTime + 3600) * 1000, format: .automatic,
            lifetimesByLocalClock: lifetimesByExp),
        Statement(hasExp: false, stated: 3600, format: .secondsFromNow, lifetimesByLocalClock: lifetimesByLength),
        Statement(
            hasExp: false, stated: issueTime + 3600, format: .epochSeconds, lifetimesByLocalClock: lifetimesByExp),
        Statement(
            hasExp: false, stated: (issueTime + 3600) * 1000, format: .epochMilliseconds,
            lifetimesByLocalClock: lifetimesByExp),
    ]

    /// Every stated expiry with every clock, with `iat` as a number, as a string, or missing; with and without `Date`.
    @Test(arguments: statements, Array(zip(LocalClock.allCases, 0...)))
    func doNotDependOnUnneededClocks(statement: Statement, clock: (local: LocalClock, column: Int)) throws {
        let end = Int(Self.issueTime) + 3600
        for iat in [#""iat":\#(Int(Self.issueTime)),"#, #""iat":"\#(Int(Self.issueTime))","#, ""] {
            for date in [Self.issueTime, nil] {
                let token = try token(withClaims: statement.hasExp ? "{\(iat)\"exp\":\(end)}" : "{\(iat)\"sub\":\"s\"}")
                let expiry = TokenExpiry(
                    token: token, stated: statedExpiry(statement.stated), format: statement.format, issuerTime: date,
                    localTime: clock.local.rawValue)
                let isIssueTimeKnown = !iat.isEmpty || date != nil
                let expected = isIssueTimeKnown ? 3600 : statement.lifetimesByLocalClock[clock.column]
                #expect(expiry.lifetime == expected.map { .seconds($0) }, "iat \(iat), Date \(date ?? -1)")
                #expect(expiry.warnings.isEmpty == (expiry.lifetime != nil))
            }
        }
    }

    /// The seconds since the issue by this machine's clock (`nil`: not synchronised) and by the issuer's clock, and the
    /// remaining lifetime.
    @Test(
        arguments: [
            (3599, nil, 3600), (3600, nil, 0), (8000, nil, -4400), (8000, 0, 3600), (nil, nil, 3600), (-1e9, nil, 3600),
        ] as [(Double?, Double?, Int)])
    func havePassedOnlyByASynchronizedClock(present: Double?, date: Double?, seconds: Int) throws {
        for iat in [#""iat":\#(Int(Self.issueTime)),"#, ""] {
            let expiry = TokenExpiry(
                token: try token(withClaims: "{\(iat)\"exp\":\(Int(Self.issueTime) + 3600)}"), stated: nil,
                format: .automatic, issuerTime: date.map { Self.issueTime + $0 }, localTime: Self.issueTime,
                present: present.map { Self.issueTime + $0 })
            #expect(expiry.lifetime == .seconds(seconds) && expiry.warnings.isEmpty, "\(iat)")
        }
    }

    /// A clock that is minutes off is still better than none. Such a clock never makes the lifetime longer than an
    /// hour.
    @Test(
        arguments: [(-1800, nil), (-601, nil), (-600, 3600), (-300, 3600), (60, 3540), (1800, 1800), (3599, 1)]
            as [(Double, Int?)])
    func acceptAPlausibleLocalClock(offset: Double, seconds: Int?) throws {
        let expiry = TokenExpiry(
            token: try token(withClaims: #"{"exp":\#(Int(Self.issueTime) + 3600)}"#), stated: nil, format: .automatic,
            issuerTime: nil, localTime: Self.issueTime + offset)
        #expect(expiry.lifetime == seconds.map { .seconds($0) })
        #expect(expiry.clockWarning == (seconds == nil ? .noUsableClock : nil))
    }

    /// An implausible `iat` doesn't keep a token valid forever.
    @Test(arguments: [#""iat":0,"#, #""iat":1767571200000,"#, #""iat":"never","#, #""iat":-1e300,"#])
    func ignoreAnInvalidIat(iat: String) throws {
        let token = try token(withClaims: "{\(iat)\"exp\":\(Int(Self.issueTime) + 3600)}")
        for (local, seconds) in [(Self.issueTime, 3600 as Int?), (0, nil)] {
            let expiry = TokenExpiry(
                token: token, stated: nil, format: .automatic, issuerTime: nil, localTime: local)
            #expect(expiry.lifetime == seconds.map { .seconds($0) })
        }
    }

    /// A stated expiry next to a token whose own `exp` is an hour ahead, the maximum seconds until its renewal, and the
    /// warning. No stated expiry ends the token's use.
    @Test(
        arguments: [
            (.number(1800), .secondsFromNow, 1800, .stated(1800)), (.number(20), .secondsFromNow, 60, .stated(20)),
            (.number(7200), .secondsFromNow, nil, .stated(7200)), (.number(3600), .epochSeconds, nil, .otherFormat),
            (.number(issueTime + 3600), .secondsFromNow, nil, .otherFormat),
            (.number(issueTime + 3600), .epochMilliseconds, nil, .otherFormat),
            (.number(issueTime - 3600), .automatic, 300, .stated(-3600)), (.number(-1), .automatic, nil, .unreadable),
            (.number(.infinity), .secondsFromNow, nil, .unreadable), (.unreadable, .automatic, nil, .unreadable),
            (.time(issueTime + 3600), .secondsFromNow, nil, nil),
            (.time(issueTime + 1800), .automatic, 1800, .stated(1800)),
            (.span(3600), .epochMilliseconds, nil, nil), (.span(-5), .automatic, 300, .stated(-5)),
            (.span(1e300), .automatic, nil, .unreadable),
        ] as [(StatedExpiry.Meaning, ExpirationFormat, Int?, Warning?)])
    func areNotAffectedByUnusableStatementsNextToTheToken(
        meaning: StatedExpiry.Meaning, format: ExpirationFormat, reuse: Int?, warning: Warning?
    ) throws {
        let token = try token(withClaims: #"{"iat":\#(Int(Self.issueTime)),"exp":\#(Int(Self.issueTime) + 3600)}"#)
        let stated = StatedExpiry(key: "TTL", text: "soon", meaning: meaning)
        let expiry = TokenExpiry(token: token, stated: stated, format: format, issuerTime: nil, localTime: 0)
        #expect(expiry.lifetime == .seconds(3600))
        #expect(expiry.reuse == reuse.map { .seconds($0) })
        let expected: ExpiryWarning? =
            switch warning {
            case .stated(let seconds): .differentExpiries(stated, seconds: seconds, tokenSeconds: 3600)
            case .otherFormat: .otherFormat(stated, format, hasTokenExpiry: true)
            case .unreadable: .unreadable(stated, hasTokenExpiry: true)
            case nil: nil
            }
        #expect(expiry.statedWarning == expected)
    }

    enum Warning: Sendable { case stated(Int), otherFormat, unreadable }

    /// `Date` and this machine's clock, in seconds since the `iat` of a token for an hour; the token's lifetime, and
    /// whether a warning shortens its reuse. The token has expired only if both clocks are past its end.
    @Test(
        arguments: [
            (nil, 0, 3600, false), (nil, 3480, 120, false), (nil, -1, 3600, false), (nil, 3600, 3600, false),
            (nil, 3599.5, 3600, false), (0, 1800, 3600, false), (1800, 0, 1800, false), (1800, 99999, 1800, false),
            (-599, 1800, 3600, false), (-1e9, 1800, 1800, false), (-1e9, -1e9, 3600, false), (7200, 60, 3540, true),
            (7200, -1e9, 3600, true), (7200, 7200, -3600, false), (3600, 3600, 0, false),
        ] as [(Double?, Double, Int, Bool)])
    func countTheAgeByTheMostReliableClock(date: Double?, local: Double, life: Int, isShort: Bool) throws {
        let expiry = TokenExpiry(
            token: try token(withClaims: #"{"iat":\#(Int(Self.issueTime)),"exp":\#(Int(Self.issueTime) + 3600)}"#),
            stated: nil, format: .automatic, issuerTime: date.map { Self.issueTime + $0 },
            localTime: Self.issueTime + local)
        #expect(expiry.lifetime == .seconds(life))
        #expect(expiry.reuse == (isShort ? .seconds(300) : nil))
        #expect((expiry.clockWarning != nil) == (isShort || date.map { $0 < -600 } == true))
    }

    @Test(
        arguments: [
            (#"{"iat":1000,"exp":4600}"#, 1600.0, 3000 as Int64?), (#"{"iat":1000,"exp":4600}"#, 900, 3600),
            (#"{"iat":1000,"exp":4600}"#, 5000, -400), (#"{"exp":4600}"#, 1600, 3000), (#"{"iat":1000}"#, 1600, nil),
            (#"{"iat":"1000","exp":"4600"}"#, 1000, 3600), (#"{"iat":1e300,"exp":4600}"#, 1600, 3000),
        ])
    func countTheAgeByTheIssuersClock(payload: String, issuerTime: Double, seconds: Int64?) throws {
        let expiry = TokenExpiry(
            token: try token(withClaims: payload), stated: nil, format: .automatic, issuerTime: issuerTime,
            localTime: 9e9)
        #expect(expiry.lifetime?.components.seconds == seconds)
    }

    /// Whatever the claims contain, the result is a lifetime or `nil`.
    @Test(
        arguments: ["1e300", "-1e300", "\"inf\"", "\"-inf\"", "\"nan\"", "1000"],
        ["1e300", "-1e300", "\"inf\"", "\"-inf\"", "\"nan\"", "4600"])
    func tolerateAnyClaims(iat: String, exp: String) throws {
        let payload = #"{"iat":\#(iat),"exp":\#(exp)}"#
        let isSound = iat == "1000" && exp == "4600"
        for stated in [nil, 3600.0, 1e300, -1e300, .nan, .infinity] {
            let expiry = TokenExpiry(
                token: try token(withClaims: payload), stated: statedExpiry(stated), format: .automatic,
                issuerTime: nil, localTime: 1000
            )
            let isKnown = isSound || exp == "4600" || stated == 3600
            #expect(expiry.lifetime == (isKnown ? .seconds(3600) : nil))
        }
        let own = TokenExpiry.lifetime(ofToken: TestTokens.token(payload: payload), localTime: 1000)
        #expect(own == (exp == "4600" ? .seconds(3600) : nil))
    }

    @Test(
        arguments: [
            (TestTokens.driver(vehicleID: "v", lifetime: 900), 0.0, 900 as Int64?),
            (TestTokens.driver(vehicleID: "v", lifetime: 900), 1_000_000_600, 300), ("opaque", 0, nil),
        ])
    func areReadFromTheTokenItself(value: String, localTime: Double, seconds: Int64?) {
        #expect(TokenExpiry.lifetime(ofToken: value, localTime: localTime)?.components.seconds == seconds)
    }
}
