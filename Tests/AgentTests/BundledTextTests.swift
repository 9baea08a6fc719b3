import StrictJSON
import Testing
@testable import Operations

@Suite struct BundledTexts {
    @Test(arguments: [
        ("fix at 53.549998, 10.000001 ±4 m", "fix at …, … ±4 m"),
        ("53.5 s, 2.25 m, 1.234 s", "53.5 s, 2.25 m, 1.234 s"),
        ("$GPGGA,101500.00,4810.5000,N,01131.2000,E,1", "$GPGGA,101500.00,…,N,…,E,1"),
        ("$GPGGA,1015,4810.5,N,01131.2,E,1", "$GPGGA,1015,…,…,1"),
        ("2026-01-05T10:15:30.000Z", "2026-01-05T10:15:30.000Z"),
        ("lat=-33.868820&lon=151.209290", "lat=-…&lon=…"), ("6.1.0-13-amd64 #1 SMP", "6.1.0-13-amd64 #1 SMP"),
        (
            "/dev/serial/by-id/usb-SimTech_SIM7600_0123456789ABCDEF-if02-port0: receiving",
            "/dev/serial/by-id/usb-SimTech_SIM7600_…-if02-port0: receiving"
        ),
        // ModemManager and AT commands print the numbers of modems and SIM cards in these forms.
        ("  3GPP     |                imei: 490154203237518", "  3GPP     |                imei: …"),
        ("equipment id: 490154203237518, state: enabled", "equipment id: …, state: enabled"),
        ("+CGSN: \"490154203237518\"", "+CGSN: \"…\""), ("4901542032375186", "…"),
        ("+CCID: 8949020000123456789F", "+CCID: …F"),
        ("20260105101530 1767608130250", "20260105101530 1767608130250"),
    ])
    func omitPositionsAndSerialNumbers(text: String, redacted: String) {
        #expect(BundledText.redactedLine(text) == redacted)
    }

    @Test func omitSecrets() {
        let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJlc2lnbmF0dXJl"
        let text = "one\nAuthorization: Bearer \(token)\npassword=hunter2hunter2\ntwo\u{1B}[2J"
        let shown = String(decoding: BundledText.redactedLines(of: Array(text.utf8)), as: UTF8.self)
        #expect(!shown.contains("eyJ") && !shown.contains("hunter2") && !shown.contains("\u{1B}"))
        #expect(shown.hasPrefix("one\n") && shown.contains("\ntwo"))
    }

    @Test func shortenLongLines() {
        let shown = BundledText.redactedLines(of: Array((String(repeating: "word ", count: 2000) + "\nend").utf8))
        #expect(shown.count < 4100 && String(decoding: shown, as: UTF8.self).hasSuffix("…\nend\n"))
    }

    /// Every value is redacted, unless its key is known to have harmless values. So the value of a misspelt key is also
    /// redacted.
    @Test(arguments: [
        (#"{"vehicle":{"vehicleId":"van-7"}}"#, #"{"vehicle":{"vehicleId":"van-7"}}"#),
        (#"{"authorization":{"headers":{"X-Api-Key":"s3cret"}}}"#, #"{"authorization":{"headers":{"X-Api-Key":"…"}}}"#),
        (
            #"{"headers":{"path":"s3cret","X":{"file":"/etc/key","scheme":"bearer"}}}"#,
            #"{"headers":{"X":{"file":"/etc/key","scheme":"bearer"},"path":"…"}}"#
        ),
        (
            #"{"environment":{"type":"s3cret","K":{"environment":"NAME"}}}"#,
            #"{"environment":{"K":{"environment":"NAME"},"type":"…"}}"#
        ),
        (#"{"url":"https://u:s3cret@h.example/t?key=s3cret#s3cret"}"#, #"{"url":"https://…@h.example/t?…"}"#),
        (#"{"command":["/usr/bin/token","--key","s3cret"]}"#, #"{"command":["/usr/bin/token","…","…"]}"#),
        (
            #"{"body":"s3cret","pasword":"s3cret","type":{"x":"s3cret"}}"#,
            #"{"body":"…","pasword":"…","type":{"x":"…"}}"#
        ),
        (
            #"{"intervalSeconds":5,"follow":true,"x":null,"y":[1,"s3cret"]}"#,
            #"{"follow":true,"intervalSeconds":5,"x":null,"y":["…","…"]}"#
        ),
        (
            #"{"privateZones":[{"latitude":48.1}],"privateZone":[{"latitude":48.1,"lon":11.5,"radiusMeters":9},[48,11.5]]}"#,
            #"{"privateZone":[{"latitude":"…","lon":"…","radiusMeters":"…"},["…","…"]],"privateZones":"…"}"#
        ),
        (#"{"$schema":"https://h.example/s3cret","vehicle":{}}"#, #"{"vehicle":{}}"#),
        (
            #"{"policy":"accuracy","trackToleranceMeters":"off","baudRate":"automatic","vehicleId":7}"#,
            #"{"policy":"accuracy","trackToleranceMeters":"off","baudRate":"automatic","vehicleId":7}"#
        ),
    ])
    func redactSecretsInAConfiguration(text: String, shown: String) throws {
        let value = BundledText.redactedConfiguration(try JSONValue(parsing: Array(text.utf8)))
        #expect(value == (try JSONValue(parsing: Array(shown.utf8))), "\(value)")
    }
}
