/// Where fixes come from: the port that the receivers of `GNSSReceiver` implement.
package protocol FixSource: Sendable {
    /// Delivers fixes and changes of state until the source ends or the task is cancelled.
    ///
    /// `deliver` is awaited: a recorded log is read no faster than its fixes are taken. A live receiver never waits;
    /// while `deliver` is busy it keeps the newest fix alone. A receiver that is missing or silent is a state, retried
    /// for ever; only what no retry can mend (bad input data) is thrown.
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError)
}
