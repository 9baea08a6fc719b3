import Testing
import VehicleAuthorization

@testable import BackendAuthorization

@Suite struct Placeholder {
    private func expand(
        _ template: String, encoding: Placeholders.Encoding, task: String? = nil
    ) throws(AuthorizationError) -> String {
        try Placeholders(
            providerID: "my project", context: AuthorizationContext(vehicleID: "vän/7 \"x\"", taskID: task)
        )
        .expanding(template, encoding: encoding, key: "authorization.url")
    }

    @Test(
        arguments: [
            (
                "/a/{vehicleId}?p={providerId}", Placeholders.Encoding.percent,
                "/a/v%C3%A4n%2F7%20%22x%22?p=my%20project"
            ),
            ("{vehicleId}{vehicleId}", .verbatim, "vän/7 \"x\"vän/7 \"x\""), ("plain", .percent, "plain"),
            ("", .json, ""),
            (#"{"id":"{vehicleId}"}"#, .json, #"{"id":"vän/7 \"x\""}"#), (#"{"a":{"b":1}}"#, .json, #"{"a":{"b":1}}"#),
            ("id={vehicleId}", .form, "id=v%C3%A4n%2F7%20%22x%22"), ("{", .percent, "{"), ("a}b", .percent, "a}b"),
        ])
    func isReplaced(template: String, encoding: Placeholders.Encoding, text: String) throws {
        #expect(try expand(template, encoding: encoding) == text)
    }

    @Test(
        arguments: [
            ("{vehicle}", .unknownPlaceholder("vehicle")), ("/{}", .unknownPlaceholder("")),
            ("/{taskId}", .noValue(placeholder: "taskId", context)),
            ("/{tripId}", .noValue(placeholder: "tripId", context)),
            ("/{trackingId}", .noValue(placeholder: "trackingId", context)),
        ] as [(String, SettingFault)])
    func isRejected(template: String, fault: SettingFault) {
        #expect(throws: AuthorizationError(.invalidSetting(key: "authorization.url", fault))) {
            try expand(template, encoding: .percent)
        }
    }

    private static let context = AuthorizationContext(vehicleID: "vän/7 \"x\"")

    @Test func isReplacedByTheTaskIfThereIsOne() throws {
        #expect(try expand("/{taskId}", encoding: .percent, task: "t 1") == "/t%201")
    }

    @Test(
        arguments: [
            (AuthorizationContext(tripID: "t 1"), "/{tripId}", "/t%201"),
            (AuthorizationContext(trackingID: "s"), "/{trackingId}", "/s"),
            (AuthorizationContext(tripID: "t"), "/{vehicleId}", nil),
        ] as [(AuthorizationContext, String, String?)])
    func isReplacedFromTheContextOfAConsumer(context: AuthorizationContext, template: String, text: String?) {
        let placeholders = Placeholders(providerID: "p", context: context)
        #expect((try? placeholders.expanding(template, encoding: .percent, key: "authorization.url")) == text)
    }
}
