import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite struct Expiry {
    /// 2026-01-05T00:00:00Z, the moment at which all tokens here are issued.
    static let issued = 1_767_571_200.0

    private func claims(_ text: String) throws -> JSONWebToken { try JSONWebToken(TestTokens.token(payload: text)) }

    @Test(
        arguments: [
            (3600.0, ExpirationFormat.automatic, 3600), (issued + 1800, .automatic, 1800),
            ((issued + 1800) * 1000, .automatic, 1800), (3600, .secondsFromNow, 3600),
            (issued + 60, .epochSeconds, 60), ((issued + 60) * 1000, .epochMilliseconds, 60),
            (0.5, .secondsFromNow, 0),
        ])
    func ofAnOpaqueTokenIsWhatTheIssuerStates(stated: Double, format: ExpirationFormat, seconds: Int) {
        let expiry = TokenExpiry(
            token: nil, stated: stated, format: format, issuerTime: nil, localTime: Self.issued)
        #expect(expiry.lifetime?.components.seconds == Int64(seconds))
        #expect(expiry.doubt == nil)
    }

    @Test(
        arguments: [0.0, 3_786_912_000, issued, issued + 3600, issued - 3600],
        [
            (3600.0, ExpirationFormat.automatic), (issued + 3600, .automatic), ((issued + 3600) * 1000, .automatic),
            (3600, .secondsFromNow), (issued + 3600, .epochSeconds), ((issued + 3600) * 1000, .epochMilliseconds),
        ])
    func ofAWebTokenDoesNotDependOnThisMachinesClock(localTime: Double, stated: (Double, ExpirationFormat)) throws {
        let token = try claims(#"{"iat":\#(Int(Self.issued)),"exp":\#(Int(Self.issued) + 3600)}"#)
        let expiry = TokenExpiry(
            token: token, stated: stated.0, format: stated.1, issuerTime: nil, localTime: localTime)
        #expect(expiry.lifetime == .seconds(3600))
        #expect(expiry.doubt == nil)
    }

    @Test(
        arguments: [
            (1800.0, ExpirationFormat.secondsFromNow, 1800), (7200, .secondsFromNow, 3600),
            (3600, .epochSeconds, 3600), (issued + 3600, .secondsFromNow, 3600),
            (issued + 3600, .epochMilliseconds, 3600),
            (-1, .automatic, 3600), (.nan, .automatic, 3600), (.infinity, .secondsFromNow, 3600),
        ])
    func takesTheEarlierOfTwoAndSaysSo(stated: Double, format: ExpirationFormat, seconds: Int64) throws {
        let token = try claims(#"{"iat":\#(Int(Self.issued)),"exp":\#(Int(Self.issued) + 3600)}"#)
        let expiry = TokenExpiry(token: token, stated: stated, format: format, issuerTime: nil, localTime: 0)
        #expect(expiry.lifetime == .seconds(seconds))
        #expect(expiry.doubt != nil)
    }

    @Test(
        arguments: [
            (#"{"iat":1000,"exp":4600}"#, 1600.0, 3000 as Int64?), (#"{"iat":1000,"exp":4600}"#, 900, 3600),
            (#"{"iat":1000,"exp":4600}"#, 5000, -400), (#"{"exp":4600}"#, 1600, 3000), (#"{"iat":1000}"#, 1600, nil),
            (#"{"iat":"1000","exp":"4600"}"#, 1000, 3600), (#"{"iat":1e300,"exp":4600}"#, 1600, 3000),
        ])
    func countsTheAgeByTheIssuersClock(payload: String, issuerTime: Double, seconds: Int64?) throws {
        let expiry = TokenExpiry(
            token: try claims(payload), stated: nil, format: .automatic, issuerTime: issuerTime, localTime: 9e9)
        #expect(expiry.lifetime?.components.seconds == seconds)
    }

    @Test(arguments: [(TestTokens.driver(vehicleID: "v", lifetime: 900), 900 as Int64?), ("opaque", nil)])
    func isReadFromTheTokenAlone(value: String, seconds: Int64?) {
        #expect(TokenExpiry.lifetime(ofToken: value)?.components.seconds == seconds)
    }
}
