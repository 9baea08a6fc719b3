import FleetEngine
import HTTPMessages

/// A transport whose requests and their outcomes are recorded.
struct FlightTransport: HTTPTransport {
    let transport: any HTTPTransport
    let vehicle: VehicleName
    let recorder: FlightRecorder

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        let begun = recorder.now
        let isUpdate = request.url.target.contains("lastLocation")
        let number = recorder.noteRequest(isUpdate ? "update" : "state")
        do throws(HTTPTransportError) {
            let response = try await transport.send(request)
            note(UploadOutcome(of: response, to: request, for: vehicle), response.traffic, number, begun) {
                $0.with(\.status, response.status)
            }
            return response
        } catch {
            note(UploadOutcome(of: error), error.traffic, number, begun) { $0.with(\.error, error.code.rawValue) }
            throw error
        }
    }

    func networkChanged() {
        recorder.note { $0.with(\.network, "returned") }
        transport.networkChanged()
    }

    private func note(
        _ outcome: UploadOutcome, _ traffic: HTTPTraffic, _ number: Int, _ begun: Int,
        _ words: (FlightEntry) -> FlightEntry
    ) {
        let after: Duration? =
            switch outcome {
            case .retry(_, let asked), .throttled(_, let asked): asked
            case .delivered, .tokenRefused, .unreachable, .intercepted, .hold, .rejected: nil
            }
        recorder.note { entry in
            words(entry.with(\.answer, outcome.word).with(\.number, number).with(\.took, entry.at - begun))
                .with(\.sent, traffic.bytesSent).with(\.received, traffic.bytesReceived)
                .with(\.after, after?.milliseconds)
        }
    }
}
