import FleetEngine
import ReportedText
import Testing

@Suite struct ErrorBody {
    @Test func isSummarisedWithStatusMessageAndFields() throws {
        let body = """
            {"error":{"code":400,"message":"Invalid\\nupdate.","status":"INVALID_ARGUMENT","details":[
             {"@type":"type.googleapis.com/google.rpc.Unknown","strange":[1,2]},
             {"@type":"type.googleapis.com/google.rpc.BadRequest",
              "fieldViolations":[{"field":"last_location.heading","description":"must be below 360"}]}]}}
            """
        let error = try #require(FleetEngineError(Array(body.utf8), without: []))
        #expect(error.summary == "INVALID_ARGUMENT: Invalid update; last_location.heading: must be below 360")
        #expect(error.retryDelay == nil)
    }

    @Test(arguments: ["", "<html>", "[]", #"{"error":"words"}"#, #"{"message":"no error"}"#, #"{"error":{"#])
    func isRejectedIfMalformed(text: String) { #expect(FleetEngineError(Array(text.utf8), without: []) == nil) }

    @Test(
        arguments: [("2.5s", 2500), ("0s", 0), ("-1s", nil), ("3", nil), ("1e9s", nil), ("nans", nil)]
            as [(String, Int?)])
    func containsTheRetryDelay(text: String, milliseconds: Int?) throws {
        let body = #"{"error":{"details":[{"retryDelay":"\#(text)"}]}}"#
        let error = try #require(FleetEngineError(Array(body.utf8), without: []))
        #expect(error.retryDelay == milliseconds.map { .milliseconds($0) })
    }
}
