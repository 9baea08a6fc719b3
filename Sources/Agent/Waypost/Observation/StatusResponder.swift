import HTTPMessages
import HTTPService

/// Answers for the status address, which listens before there is anything to tell: a taken port is found first.
actor StatusResponder {
    private var routes: StatusRoutes?

    func set(_ routes: StatusRoutes) { self.routes = routes }

    func answer(_ request: ServedRequest) async -> ServedResponse {
        guard let routes else { return .refusal(status: 503, "the service is starting") }
        return await routes.answer(request)
    }
}
