import DriverAuthorization
import Testing
import VehicleAuthorization
import WaypostTestSupport

@Suite struct AgentTokenProviders {
    private let provider = AgentTokenProvider(
        ScriptedAuthorization { context, _ throws(AuthorizationError) in
            guard context.vehicleID != "none" else { throw AuthorizationError(.refused, "no") }
            return AuthorizationToken(value: "token of \(context.vehicleID)", lifetime: nil)
        })

    @Test(arguments: [("van-7", "token of van-7" as String?), ("none", nil)])
    func callBackWithATokenOrAnError(vehicleID: String, token: String?) async {
        let (answers, taker) = AsyncStream.makeStream(of: (String?, Bool).self, bufferingPolicy: .bufferingNewest(2))
        provider.fetchToken(with: GMTDAuthorizationContext(vehicleID: vehicleID)) { token, error in
            taker.yield((token, error is AuthorizationError))
            taker.finish()
        }
        var all: [(String?, Bool)] = []
        for await answer in answers { all.append(answer) }
        #expect(all.map(\.0) == [token])
        #expect(all.map(\.1) == [token == nil])
    }

    @Test func needAContext() async {
        let error = await #expect(throws: AuthorizationError.self) { try await provider.fetchToken(with: nil) }
        #expect(error?.code == .missingContext)
    }

    @Test func tripProvidersAlsoHaveAnAsyncForm() async throws {
        #expect(try await TripProvider().fetchToken(with: GMTCAuthorizationContext(tripID: "trip")) == "token of trip")
        await #expect(throws: ProviderContractError.emptyAnswer) { try await TripProvider().fetchToken(with: nil) }
    }

    /// An iOS app's tests call the provider like this, in any language mode.
    @Test func acceptAHandlerThatStoresTheToken() {
        var received: String?
        TripProvider().fetchToken(with: GMTCAuthorizationContext(tripID: "trip")) { token, _ in received = token }
        #expect(received == "token of trip")
    }

    @Test func contextsHaveReadableDescriptions() {
        #expect(
            "\(GMTDAuthorizationContext(vehicleID: "v", taskID: "t"))"
                == "GMTDAuthorizationContext(vehicleID: v, taskID: t)")
        #expect("\(GMTCAuthorizationContext(tripID: "t"))" == "GMTCAuthorizationContext(tripID: t)")
    }
}
