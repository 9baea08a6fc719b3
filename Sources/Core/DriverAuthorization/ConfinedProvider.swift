import VehicleAuthorization

/// A provider and the queue that it is called on, one call after another: it may be as unsafe with threads as it likes.
actor ConfinedProvider {
    private let forms: ProviderForms
    private let queue = ProviderQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    init(_ forms: sending ProviderForms) { self.forms = forms }

    /// Asks the provider; what it answers goes to `call`, whenever it does.
    func ask(_ context: AuthorizationContext, _ call: ProviderCall) async {
        // While an earlier call held the queue, whoever waited for this one may have gone.
        guard call.enter() else { return }
        forms.completing(context) { call.callBack($0, $1) }
        guard !call.leave() else { return }
        do {
            call.callBack(try await forms.asynchronous(context), nil)
        } catch {
            call.callBack(nil, error, isFinal: true)
        }
    }
}
